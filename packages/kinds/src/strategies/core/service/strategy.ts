/** Service. */

import { validateIP } from '@krmkit/base/ip'
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type { Service, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { addressWarnings, loadBalancerWarnings, rangeWarnings } from '../../shared/address-warnings.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { keepMembers, validateMetadataUpdate } from '../../shared/metadata.ts'
import { keptTexts, validateIpAddress } from '../../shared/older-addresses.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { createServiceAllocator } from './allocator.ts'
import { dropUnused, isExternallyAccessible, isHeadless, joinClusterIps, keepAllocated, needsClusterIp } from './fields.ts'
import { validateService, validateServiceUpdate } from './validation.ts'

const affinitySeconds = 10_800

function defaults(service: Service): void {
  service.spec ??= {}
  const { spec } = service
  if (isEmpty(spec.sessionAffinity)) spec.sessionAffinity = 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP') {
    const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinitySeconds
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: seconds } }
  }
  if (isEmpty(spec.type)) spec.type = 'ClusterIP'
  for (const port of spec.ports ?? []) {
    if (isEmpty(port.protocol)) port.protocol = 'TCP'
    if (!port.targetPort) port.targetPort = port.port
  }
  if (isExternallyAccessible(spec) && isEmpty(spec.externalTrafficPolicy)) spec.externalTrafficPolicy = 'Cluster'
  const inside = spec.type === 'NodePort' || spec.type === 'LoadBalancer' || spec.type === 'ClusterIP'
  if (inside && !isSet(spec.internalTrafficPolicy)) spec.internalTrafficPolicy = 'Cluster'
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true
    for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (!isEmpty(ingress.ip)) ingress.ipMode ??= 'VIP'
  }
}

/** As on kube-apiserver, a service that is only a name keeps the policy that it had, for the way back, and responses hide it. */
function hideInternalPolicy(stored: DeepReadonly<Service>): DeepReadonly<Service> {
  if (stored.spec?.type !== 'ExternalName' || !isSet(stored.spec.internalTrafficPolicy)) return stored
  const { internalTrafficPolicy: _, ...spec } = stored.spec
  return { ...stored, spec }
}

const trafficGates: readonly GatedFields[] = [{ gate: 'ServiceTrafficDistribution', paths: ['spec.trafficDistribution'] }]
const statusGates: readonly GatedFields[] = [{ gate: 'LoadBalancerIPMode', paths: ['status.loadBalancer.ingress.*.ipMode'] }]

function validateStatus(service: DeepReadonly<Service>, old: DeepReadonly<Service>, at: FieldPath): void {
  const { features } = at.errors.context
  const ingresses = service.status?.loadBalancer?.ingress ?? []
  const kept = keptTexts(old.status?.loadBalancer?.ingress?.flatMap(({ ip }) => ip ?? []))
  const here = at.child('loadBalancer').child('ingress')
  const isBalanced = service.spec?.type === 'LoadBalancer' || gateEnabled('AllowServiceLBStatusOnNonLB', features)
  if (!isBalanced && ingresses.length > 0) {
    here.forbidden("may only be used when `spec.type` is 'LoadBalancer'")
    return
  }
  for (const [i, { ip, ipMode, hostname }] of ingresses.entries()) {
    const place = here.index(i)
    if (!isEmpty(ip)) validateIpAddress(ip, place.child('ip'), kept)
    if (!isSet(ipMode)) {
      if (!isEmpty(ip) && gateEnabled('LoadBalancerIPMode', features))
        place.child('ipMode').required('must be specified when `ip` is set')
    } else if (isEmpty(ip)) place.child('ipMode').forbidden('may not be specified when `ip` is not set')
    else if (ipMode !== 'VIP' && ipMode !== 'Proxy') place.child('ipMode').notSupported(ipMode, ['Proxy', 'VIP'])
    if (isEmpty(hostname)) continue
    place.child('hostname').invalidAll(hostname, validateDns1123Subdomain(hostname))
    if (validateIP(hostname).length === 0) place.child('hostname').invalid(hostname, 'must be a DNS name, not an IP address')
  }
}

function serviceWarnings(spec: R<ServiceSpec>, { release }: Features): string[] {
  const texts: string[] = []
  const headless = isHeadless(spec)
  const named = spec.type === 'ExternalName'
  if (needsClusterIp(spec) && !headless)
    for (const [i, address] of (spec.clusterIPs ?? []).entries()) texts.push(...addressWarnings(`spec.clusterIPs[${i}]`, address))
  if (headless && release.atLeast('1.34')) texts.push(...headlessWarnings(spec))
  for (const [i, address] of (spec.externalIPs ?? []).entries()) texts.push(...addressWarnings(`spec.externalIPs[${i}]`, address))
  if (!isEmpty(spec.externalIPs) && !headless && !named && release.atLeast('1.36'))
    texts.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  if (!isEmpty(spec.loadBalancerIP)) texts.push(...addressWarnings('spec.loadBalancerIP', spec.loadBalancerIP))
  for (const [i, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    texts.push(...rangeWarnings(`spec.loadBalancerSourceRanges[${i}]`, range))
  if (named && !isEmpty(spec.externalIPs)) texts.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (!named && !isEmpty(spec.externalName)) texts.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose' && release.atLeast('1.35'))
    texts.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return texts
}

function headlessWarnings(spec: R<ServiceSpec>): string[] {
  const texts: string[] = []
  if (!isEmpty(spec.loadBalancerIP)) texts.push('spec.loadBalancerIP is ignored for headless services')
  if (!isEmpty(spec.externalIPs)) texts.push('spec.externalIPs is ignored for headless services')
  if (spec.sessionAffinity === 'ClientIP') texts.push('spec.SessionAffinity is ignored for headless services')
  return texts
}

export const serviceStrategy = defineStrategy<Service>({
  createAllocator: createServiceAllocator,
  allowCreateOnUpdate: true,
  defaults,
  prepareForCreate(service, { features }) {
    service.status = { loadBalancer: {} }
    if (!isSet(service.spec)) return
    dropGatedFields(service, undefined, { table: trafficGates, features })
    joinClusterIps(service.spec, undefined)
  },
  *prepareForUpdate(service, old, { features }) {
    yield* keepMembers(service, old, 'status')
    if (!isSet(service.spec) || !isSet(old.spec)) return
    dropGatedFields(service, old, { table: trafficGates, features })
    keepAllocated(service.spec, old.spec)
    joinClusterIps(service.spec, old.spec)
    dropUnused(service.spec, old.spec)
  },
  validate: creationRules((errors, service) => validateService(service, errors)),
  validateUpdate: updateRules(function* (errors, service, old) {
    yield* validateMetadataUpdate(service, old, errors)
    validateServiceUpdate(service.spec ?? {}, old.spec ?? {}, errors.child('spec'))
    yield* validateService(service, errors, old)
  }),
  warnings({ spec }, _old, { features }) {
    return isSet(spec) ? serviceWarnings(spec, features) : []
  },
  deleteResponse: 'Object',
  selectableFields: {
    'spec.clusterIP': (service) => service.spec?.clusterIP ?? '',
    'spec.type': (service) => service.spec?.type ?? '',
  },
  subresources: {
    status: {
      *prepareForUpdate(service, old, { features }) {
        yield* keepMembers(service, old, 'spec')
        dropGatedFields(service, old, { table: statusGates, features })
      },
      validateUpdate: updateRules(function* (errors, service, old) {
        yield* validateMetadataUpdate(service, old, errors)
        validateStatus(service, old, errors.child('status'))
      }),
      warnings: ({ status }) => loadBalancerWarnings(status?.loadBalancer?.ingress),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
  decorate: hideInternalPolicy,
})
