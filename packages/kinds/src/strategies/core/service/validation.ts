/** Validation of services. */

import { parseIP } from '@krmkit/base/ip'
import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goStrings, goText, trimSpace } from '@krmkit/meta/go-text'
import { goIntOrString } from '@krmkit/meta/int-or-string'
import type { Service, ServicePort, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { validatePublicAddress } from '../../shared/addresses.ts'
import { protocols, validatePortNumberOrName } from '../../shared/container-ports.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { forEachItem } from '../../shared/for-each.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import {
  serviceNameRule,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabels,
  validateQualifiedName,
} from '../../shared/names.ts'
import { validatePortNumber } from '../../shared/numbers.ts'
import { keptTexts, validateIpAddress, validateIpRange } from '../../shared/older-addresses.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'
import { isExternallyAccessible, isHeadless, needsHealthCheck } from './fields.ts'

type Spec = R<ServiceSpec>

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinities = ['ClientIP', 'None']
const trafficPolicies = ['Cluster', 'Local']
const distributions = ['PreferClose']
const moreDistributions = [...distributions, 'PreferSameZone', 'PreferSameNode']
const ipFamilies = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const longestAffinity = 86_400
const agentPort = 10_250

/** All rules of a service, in the order of kube-apiserver. @param old the stored service, whose addresses stay valid. */
export function* validateService(service: DeepReadonly<Service>, errors: ContextErrorList, old?: DeepReadonly<Service>): Work {
  const { features } = errors.context
  // Since 1.34 an update does not validate the name again.
  if (old === undefined || !features.release.atLeast('1.34'))
    yield* validateMetadata(service, errors, { namespaced: true, name: serviceNameRule(features) })
  const spec = service.spec ?? {}
  const at = errors.child('spec')
  if (isEmpty(spec.ports) && !isHeadless(spec) && spec.type !== 'ExternalName') at.child('ports').required()
  validateType(spec, at)
  const names = new Set<string>()
  const nameRequired = (spec.ports?.length ?? 0) > 1
  yield* forEachItem(spec.ports, (port, i) => validatePort(port, at.child('ports').index(i), { names, nameRequired }))
  yield* validateLabels(spec.selector, at.child('selector'))
  validateAffinity(spec, at)
  if (spec.type !== 'ExternalName') validateClusterIps(spec, at, old?.spec?.clusterIPs ?? [])
  const kept = keptTexts(old?.spec?.externalIPs)
  yield* forEachItem(spec.externalIPs, (address, i) => {
    const here = at.child('externalIPs').index(i)
    if (validateIpAddress(address, here, kept)) validatePublicAddress(address, here)
  })
  if (isEmpty(spec.type)) at.child('type').required()
  else if (!types.includes(spec.type)) at.child('type').notSupported(spec.type, types)
  validateUniquePorts(spec, at.child('ports'))
  validateBalancer(service, old, errors)
  validateTraffic(spec, at)
}

function validateType(spec: Spec, at: FieldPath): void {
  if (spec.type === 'LoadBalancer') {
    for (const [i, port] of (spec.ports ?? []).entries()) {
      if (port.port !== agentPort) continue
      at.child('ports').index(i).invalid(port.port, `may not expose port ${agentPort} externally since it is used by kubelet`)
    }
  }
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(spec)) {
    at.child('clusterIPs').index(0).invalid('None', `may not be set to 'None' for ${spec.type} services`)
  }
  if (spec.type !== 'ExternalName') return
  const detail = 'may not be set for ExternalName services'
  if (!isEmpty(spec.clusterIPs)) at.child('clusterIPs').forbidden(detail)
  if (!isEmpty(spec.ipFamilies)) at.child('ipFamilies').forbidden(detail)
  if (isSet(spec.ipFamilyPolicy)) at.child('ipFamilyPolicy').forbidden(detail)
  const name = spec.externalName ?? ''
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  if (bare === '') at.child('externalName').required()
  else validateDnsSubdomain(bare, at.child('externalName'))
}

function validatePort(
  port: R<ServicePort>,
  at: FieldPath,
  options: { readonly names: Set<string>; readonly nameRequired: boolean },
): void {
  if (isEmpty(port.name)) {
    if (options.nameRequired) at.child('name').required()
  } else {
    validateDnsLabel(port.name, at.child('name'))
    if (options.names.has(port.name)) at.child('name').duplicate(port.name)
    else options.names.add(port.name)
  }
  validatePortNumber(port.port ?? 0, at.child('port'))
  if (isEmpty(port.protocol)) at.child('protocol').required()
  else if (!protocols.includes(port.protocol)) at.child('protocol').notSupported(port.protocol, protocols)
  validatePortNumberOrName(port.targetPort ?? 0, at.child('targetPort'))
  if (isSet(port.appProtocol)) validateQualifiedName(port.appProtocol, at.child('appProtocol'))
}

function validateAffinity(spec: Spec, at: FieldPath): void {
  const affinity = spec.sessionAffinity
  if (isEmpty(affinity)) at.child('sessionAffinity').required()
  else if (!affinities.includes(affinity)) at.child('sessionAffinity').notSupported(affinity, affinities)
  const config = spec.sessionAffinityConfig
  const here = at.child('sessionAffinityConfig')
  if (affinity === 'None' && isSet(config)) here.forbidden('must not be set when session affinity is None')
  if (affinity !== 'ClientIP') return
  const detail = 'when session affinity type is ClientIP'
  const seconds = config?.clientIP?.timeoutSeconds
  if (!isSet(config)) here.required(detail)
  else if (!isSet(config.clientIP)) here.child('clientIP').required(detail)
  else if (!isSet(seconds)) here.child('clientIP').child('timeoutSeconds').required(detail)
  else if (seconds <= 0 || seconds > longestAffinity) {
    here.child('clientIP').child('timeoutSeconds').invalid(seconds, `must be greater than 0 and less than ${longestAffinity}`)
  }
}

/** Validates `clusterIP`, `clusterIPs` and their families. */
export function validateClusterIps(spec: Spec, at: FieldPath, kept: readonly string[] = []): void {
  const before = at.errors.length
  const here = at.child('clusterIPs')
  const addresses = spec.clusterIPs ?? []
  const printed = goText(goStrings(addresses))
  if (!isEmpty(spec.clusterIP)) {
    if (addresses.length === 0) here.required()
    else if (addresses[0] !== spec.clusterIP) here.invalid(printed, 'first value must match `clusterIP`')
  } else if (addresses.length > 0) here.invalid(printed, 'must be empty when `clusterIP` is not specified')
  validateFamilies(spec, at)
  if (!validateAddresses(addresses, here, keptTexts(kept))) return
  if (addresses.length > 1) {
    const families = new Set(addresses.map((address) => parseIP(address)?.family))
    if (families.size !== 2) here.invalid(printed, 'may specify no more than one IP for each IP family')
  }
  if (isHeadless(spec) || at.errors.length > before) return
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    const address = addresses[i]
    if (address === undefined) break
    const actual = parseIP(address)?.family === 6 ? 'IPv6' : 'IPv4'
    if (actual !== family) here.index(i).invalid(address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)
  }
}

function validateFamilies(spec: Spec, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
    const here = at.child('ipFamilies').index(i)
    if (!ipFamilies.includes(family)) here.notSupported(family, ipFamilies)
    if (seen.has(family)) here.duplicate(family)
    seen.add(family)
  }
  const policy = spec.ipFamilyPolicy
  if (isSet(policy) && !familyPolicies.includes(policy)) at.child('ipFamilyPolicy').notSupported(policy, familyPolicies)
}

/** Returns false if an address is malformed, so that families cannot be compared. */
function validateAddresses(addresses: readonly string[], at: FieldPath, kept: ReadonlySet<string>): boolean {
  let good = true
  for (const [i, address] of addresses.entries()) {
    if (i === 0 && address === 'None') {
      if (addresses.length > 1) {
        good = false
        at.invalidText(goStrings(addresses), "'None' must be the first and only value")
      }
      continue
    }
    if (!validateIpAddress(address, at.index(i), kept)) good = false
  }
  if (addresses.length > 2) at.invalidText(goStrings(addresses), 'may only hold up to 2 values')
  return good
}

/** No two ports may share a number and a protocol, neither of the service nor on the nodes. */
function validateUniquePorts(spec: Spec, at: FieldPath): void {
  const ports = spec.ports ?? []
  if (spec.type === 'ClusterIP') {
    for (const [i, port] of ports.entries()) {
      if (port.nodePort) at.index(i).child('nodePort').forbidden("may not be used when `type` is 'ClusterIP'")
    }
  }
  const nodePorts = new Set<string>()
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort) continue
    const key = `${port.protocol}/${port.nodePort}`
    if (nodePorts.has(key)) at.index(i).child('nodePort').duplicate(port.nodePort)
    nodePorts.add(key)
  }
  const numbers = new Set<string>()
  for (const [i, port] of ports.entries()) {
    const key = `${port.protocol}/${port.port}`
    if (numbers.has(key)) at.index(i).duplicate(printPort(port))
    numbers.add(key)
  }
}

/** Prints only the members that identify a port. */
function printPort(port: R<ServicePort>) {
  const members = `Protocol:${goQuote(port.protocol ?? '')}, AppProtocol:(*string)(nil), Port:${port.port}`
  return goText(`core.ServicePort{Name:"", ${members}, TargetPort:${goIntOrString(0).text}, NodePort:0}`)
}

function validateBalancer(
  service: DeepReadonly<Service>,
  old: DeepReadonly<Service> | undefined,
  errors: ContextErrorList,
): void {
  const spec = service.spec ?? {}
  const at = errors.child('spec')
  const balanced = spec.type === 'LoadBalancer'
  const detail = "may only be used when `type` is 'LoadBalancer'"
  const key = `service.beta.${at.profile.domain}/load-balancer-source-ranges`
  const annotation = own(service.metadata.annotations, key)
  if (!isEmpty(spec.loadBalancerSourceRanges)) {
    const here = at.child('LoadBalancerSourceRanges')
    if (!balanced) here.forbidden(detail)
    const kept = keptTexts(old?.spec?.loadBalancerSourceRanges?.map((range) => trimSpace(range)))
    for (const [i, range] of spec.loadBalancerSourceRanges.entries()) validateIpRange(trimSpace(range), here.index(i), kept)
  } else if (annotation !== undefined) {
    const here = errors.child('metadata').child('annotations').key(key)
    if (!balanced) here.forbidden(detail)
    const text = trimSpace(annotation)
    const isNew = text !== '' && own(old?.metadata.annotations, key) !== annotation
    for (const range of isNew ? text.split(',') : []) validateIpRange(trimSpace(range), here)
  }
  if (isSet(spec.allocateLoadBalancerNodePorts) && !balanced) at.child('allocateLoadBalancerNodePorts').forbidden(detail)
  if (balanced && !isSet(spec.allocateLoadBalancerNodePorts)) at.child('allocateLoadBalancerNodePorts').required()
  validateBalancerClass(spec, at)
}

function validateBalancerClass({ type, loadBalancerClass }: Spec, at: FieldPath): void {
  if (!isSet(loadBalancerClass)) return
  const here = at.child('loadBalancerClass')
  if (type === 'LoadBalancer') validateQualifiedName(loadBalancerClass, here)
  else here.forbidden("may only be used when `type` is 'LoadBalancer'")
}

function validateTraffic(spec: Spec, at: FieldPath): void {
  const external = spec.externalTrafficPolicy
  const here = at.child('externalTrafficPolicy')
  if (!isExternallyAccessible(spec)) {
    if (!isEmpty(external)) here.invalid(external, 'may only be set for externally-accessible services')
  } else if (isEmpty(external)) here.required()
  else if (!trafficPolicies.includes(external)) here.notSupported(external, trafficPolicies)
  const port = spec.healthCheckNodePort
  if (needsHealthCheck(spec)) {
    // The port is allocated after validation, so it may be absent.
    if (port) validatePortNumber(port, at.child('healthCheckNodePort'))
  } else if (port) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    at.child('healthCheckNodePort').invalid(port, detail)
  }
  const internal = spec.internalTrafficPolicy
  if (isSet(internal) && !trafficPolicies.includes(internal))
    at.child('internalTrafficPolicy').notSupported(internal, trafficPolicies)
  const distribution = spec.trafficDistribution
  const known = gateEnabled('PreferSameTrafficDistribution', at.errors.context.features) ? moreDistributions : distributions
  if (isSet(distribution) && !known.includes(distribution)) at.child('trafficDistribution').notSupported(distribution, known)
}

/** Cluster IPs and families are immutable once set; headless services may change theirs. */
export function validateServiceUpdate(spec: Spec, old: Spec, at: FieldPath): void {
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    const print = (list: readonly string[], type: string) =>
      goText(isEmpty(list) ? `${type}(nil)` : `${type}{${list.map(goQuote).join(', ')}}`)
    const addresses = spec.clusterIPs ?? []
    validateFirst(addresses, old.clusterIPs ?? [], at.child('clusterIPs'), {
      noun: 'clusterIP',
      printed: print(addresses, '[]string'),
    })
    const families = spec.ipFamilies ?? []
    if (!isHeadless(spec) && !isHeadless(old))
      validateFirst(families, old.ipFamilies ?? [], at.child('ipFamilies'), {
        noun: 'ipFamily',
        printed: print(families, '[]core.IPFamily'),
      })
  }
  const stays = old.type === 'LoadBalancer' && spec.type === 'LoadBalancer'
  if (stays && spec.loadBalancerClass !== old.loadBalancerClass) {
    at.child('loadBalancerClass').invalid(spec.loadBalancerClass ?? null, 'may not change once set')
  }
  validateBalancerClass(spec, at)
  if (needsHealthCheck(spec) && needsHealthCheck(old) && spec.healthCheckNodePort !== old.healthCheckNodePort)
    at.child('healthCheckNodePort').forbidden('field is immutable')
}

function validateFirst(
  now: readonly string[],
  before: readonly string[],
  at: FieldPath,
  options: { readonly noun: string; readonly printed: unknown },
): void {
  if (before.length === 0) return
  if (now.length === 0) at.index(0).invalid(options.printed, `primary ${options.noun} can not be unset`)
  for (const i of [0, 1]) {
    const [value, old] = [now[i], before[i]]
    if (value !== undefined && old !== undefined && value !== old) at.index(i).invalid(options.printed, 'may not change once set')
  }
}
