/** Members of services that follow from each other, from the stored service, or from the cluster's addresses. */

import { parseIP } from '@krmkit/base/ip'
import type { DeepReadonly, FieldError } from '@krmkit/meta'
import { goStrings, goText } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../../interfaces.ts'
import type { Service, ServicePort, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateWith } from '../../shared/strategy.direct.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

type Spec = R<ServiceSpec>
export type IpFamily = 'IPv4' | 'IPv6'

const none = 'None'

/** Whether the service gets a cluster IP (`None` counts as a requested one). */
export function needsClusterIp(spec: Spec): boolean {
  return spec.type !== 'ExternalName'
}

/** Whether its ports may be opened on every node. */
export function hasNodePorts(spec: Spec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

/** Whether its ports are opened on every node. */
export function needsNodePort(spec: Spec): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
}

/** Whether it gets a health check port, which tells load balancers the nodes with endpoints. */
export function needsHealthCheck(spec: Spec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

/** Whether traffic from outside reaches the service. */
export function isExternallyAccessible(spec: Spec): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true
  return spec.type === 'ClusterIP' && !isEmpty(spec.externalIPs)
}

/** Whether the service has no cluster IP: clients get the endpoints. */
export function isHeadless(spec: Spec): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === none
}

/** Synchronizes `clusterIP` and `clusterIPs` if only one of them was set or changed. */
export function joinClusterIps(spec: ServiceSpec, old: Spec | undefined): void {
  if (old === undefined) {
    if (!isEmpty(spec.clusterIP) && isEmpty(spec.clusterIPs)) spec.clusterIPs = [spec.clusterIP]
    return
  }
  const sameOne = (spec.clusterIP ?? '') === (old.clusterIP ?? '')
  if (sameOne) {
    if (isEmpty(spec.clusterIPs) && !isEmpty(old.clusterIPs)) spec.clusterIPs = [...old.clusterIPs]
    return
  }
  if (!semanticEqual(spec.clusterIPs, old.clusterIPs)) return
  if (isEmpty(spec.clusterIP)) delete spec.clusterIPs
  else spec.clusterIPs = [spec.clusterIP]
}

/** Keeps the allocations of the stored service where the new one leaves them open. */
export function keepAllocated(spec: ServiceSpec, old: Spec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (isEmpty(spec.clusterIP) && !isEmpty(old.clusterIP)) spec.clusterIP = old.clusterIP
    if (isEmpty(spec.clusterIPs) && !isEmpty(old.clusterIPs)) spec.clusterIPs = [...old.clusterIPs]
  }
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec.ports ?? [], old.ports ?? [])
  if (needsHealthCheck(old) && needsHealthCheck(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort
  }
}

function keepNodePorts(ports: ServicePort[], old: readonly R<ServicePort>[]): void {
  const given = new Set(ports.map((port) => port.nodePort))
  const used = new Set(old.map((port) => port.nodePort).filter((port) => given.has(port)))
  const byName = new Map(old.map((port) => [port.name ?? '', port.nodePort]))
  for (const port of ports) {
    const before = byName.get(port.name ?? '')
    // As on kube-apiserver, ports without name take over one port; validation refuses them.
    if (!port.nodePort && before && !used.has(before)) port.nodePort = before
  }
}

/** Releases allocations that a new type does not use, unless the writer set them anew. */
export function dropUnused(spec: ServiceSpec, old: Spec): void {
  if (needsClusterIp(old) && !needsClusterIp(spec)) {
    if (semanticEqual(spec.clusterIPs, old.clusterIPs) && (spec.clusterIP ?? '') === (old.clusterIP ?? '')) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (semanticEqual(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy
  }
  if (hasNodePorts(old) && !hasNodePorts(spec) && sameNodePorts(spec, old))
    for (const port of spec.ports ?? []) delete port.nodePort
  if (needsHealthCheck(old) && !needsHealthCheck(spec) && spec.healthCheckNodePort === old.healthCheckNodePort) {
    delete spec.healthCheckNodePort
  }
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) delete spec.allocateLoadBalancerNodePorts
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy) {
    delete spec.externalTrafficPolicy
  }
}

function sameNodePorts(spec: Spec, old: Spec): boolean {
  const ports = (of: Spec) => new Set((of.ports ?? []).flatMap(({ nodePort }) => nodePort || []))
  const [now, before] = [ports(spec), ports(old)]
  return [...now].every((port) => before.has(port))
}

function familyOf(address: string): IpFamily | undefined {
  const parsed = parseIP(address)
  return parsed === undefined ? undefined : parsed.family === 4 ? 'IPv4' : 'IPv6'
}

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` from what was given, from the stored service and from the families of the cluster, primary one
 * first. Call it for services whose addresses and families are well-formed, before allocation and so before validation; mutates
 * `service`.
 *
 * @returns errors of families that the cluster does not have, or that the policy does not allow.
 */
export function defaultIpFamilies(
  service: Service,
  old: DeepReadonly<Service> | undefined,
  { families: cluster, context }: { readonly families: readonly IpFamily[]; readonly context: StrategyContext },
): FieldError[] {
  const { spec } = service
  const before = old?.spec
  if (!isSet(spec) || !needsClusterIp(spec) || (isSet(before) && prefersSameStacks(spec, before))) return []
  const isOpen = spec.clusterIP === none && Object.keys(spec.selector ?? {}).length === 0
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (isOpen ? 'RequireDualStack' : 'SingleStack')
  return validateWith(context, (errors) => {
    const at = errors.child('spec')
    if (isSet(before)) changeStacks(spec, before, at)
    if (spec.ipFamilyPolicy === 'SingleStack') validateSingleStack(spec, at)
    inferFamilies(spec, cluster, at)
    if (errors.length > 0) return
    // Headless services without selector get no allocation, so they may have both families on any cluster.
    if (isOpen) {
      spec.ipFamilies = withOtherFamily(spec, cluster, bothFamilies)
      return
    }
    if (spec.ipFamilyPolicy === 'RequireDualStack' && cluster.length < 2) {
      at.child('ipFamilyPolicy').invalid(spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services')
    }
    for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
      if (!cluster.includes(family as IpFamily)) at.child('ipFamilies').index(i).invalid(family, 'not configured on this cluster')
    }
    if (errors.length === 0) spec.ipFamilies = withOtherFamily(spec, cluster, cluster)
  })
}

const bothFamilies: readonly IpFamily[] = ['IPv4', 'IPv6']

/** A service that prefers two families, and keeps what it has, follows no change of the cluster. */
function prefersSameStacks(spec: Spec, old: Spec): boolean {
  const prefers = spec.ipFamilyPolicy === 'PreferDualStack' && (old.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack'
  return prefers && spec.type === old.type && sameAddresses(spec, old) && semanticEqual(spec.ipFamilies, old.ipFamilies)
}

function sameAddresses(spec: Spec, old: Spec): boolean {
  return (spec.clusterIP ?? '') === (old.clusterIP ?? '') && semanticEqual(spec.clusterIPs, old.clusterIPs)
}

/** Releases the second family and address where the policy asks for one; otherwise they must stay. */
function changeStacks(spec: ServiceSpec, old: Spec, at: FieldPath): void {
  const { clusterIPs, ipFamilies } = spec
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (sameAddresses(spec, old) && isSet(clusterIPs)) spec.clusterIPs = clusterIPs.slice(0, 1)
    if (semanticEqual(ipFamilies, old.ipFamilies) && isSet(ipFamilies)) spec.ipFamilies = ipFamilies.slice(0, 1)
    return
  }
  const isReduced = (now: readonly string[] | undefined, then: readonly string[] | undefined) =>
    !isEmpty(now) && now.length < (then ?? []).length
  const here = at.child('ipFamilyPolicy')
  const needsSingle = (what: string) =>
    here.invalid(spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)
  if (isReduced(clusterIPs, old.clusterIPs)) needsSingle('cluster IP')
  if (isReduced(ipFamilies, old.ipFamilies)) needsSingle('IP family')
}

function validateSingleStack({ ipFamilyPolicy, clusterIPs, ipFamilies }: Spec, at: FieldPath): void {
  const needsTwo = (what: string) =>
    at
      .child('ipFamilyPolicy')
      .invalid(ipFamilyPolicy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`)
  if (clusterIPs?.length === 2) needsTwo('cluster IPs')
  if (ipFamilies?.length === 2) needsTwo('IP families')
}

/** Adds the families of addresses that have none. */
function inferFamilies(spec: ServiceSpec, cluster: readonly IpFamily[], at: FieldPath): void {
  const addresses = spec.clusterIPs ?? []
  for (const [i, address] of addresses.entries()) {
    const family = address === none ? undefined : familyOf(address)
    if (family === undefined) return
    if (i < (spec.ipFamilies ?? []).length) continue
    const here = at.child('clusterIPs').index(i)
    if (cluster.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family]
    else here.invalid(goText(goStrings(addresses)), `${family} is not configured on this cluster`)
  }
}

/** The families of a service, with the second one of `choice` unless the service has one family. */
function withOtherFamily(
  { ipFamilies, ipFamilyPolicy }: Spec,
  cluster: readonly IpFamily[],
  choice: readonly IpFamily[],
): string[] {
  const families: string[] = isEmpty(ipFamilies) ? [cluster[0] ?? 'IPv4'] : [...ipFamilies]
  const other = choice.find((family) => family !== families[0])
  return ipFamilyPolicy === 'SingleStack' || families.length > 1 || other === undefined ? families : [...families, other]
}
