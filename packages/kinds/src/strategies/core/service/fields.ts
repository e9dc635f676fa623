/** Members of services that follow from each other, from the stored service, or from the cluster's addresses. */
import type { DeepReadonly, FieldError } from '@krmkit/meta'
import { parseIP } from '@krmkit/meta/ip'
import type { StrategyContext } from '../../../interfaces.ts'
import type { Service, ServicePort, ServiceSpec } from '../../../types/core-v1.generated.ts'
import { validateWith } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../../shared/values.ts'

type Spec = R<ServiceSpec>
export type IpFamily = 'IPv4' | 'IPv6'

const none = 'None'

/** Whether the service gets a cluster IP (`None` counts as a requested one). */
export function needsClusterIp(spec: Spec): boolean {
  return spec.type === 'ClusterIP' || spec.type === 'NodePort' || spec.type === 'LoadBalancer'
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
    if (port.nodePort || !before || used.has(before)) continue
    port.nodePort = before
    used.add(before)
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
  if (needsNodePort(old) && !needsNodePort(spec) && sameNodePorts(spec, old))
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
  const ports = (of: Spec) => new Set((of.ports ?? []).map((port) => port.nodePort ?? 0))
  const [now, before] = [ports(spec), ports(old)]
  return [...now].every((port) => before.has(port))
}

function familyOf(address: string): IpFamily | undefined {
  const parsed = parseIP(address)
  return parsed === undefined ? undefined : parsed.family === 4 ? 'IPv4' : 'IPv6'
}

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` from what was given and from the families of the cluster, primary one first. Call it
 * before allocation, and so before validation; mutates `service`.
 *
 * @returns errors of families that the cluster does not have. Services with other malformed members are skipped; validation
 * reports those.
 */
export function defaultIpFamilies(
  service: Service,
  old: DeepReadonly<Service> | undefined,
  options: { readonly families: readonly IpFamily[]; readonly context: StrategyContext },
): FieldError[] {
  const spec = service.spec
  if (!isSet(spec) || !needsClusterIp(spec)) return []
  const { families } = options
  const upgradeOnly = old !== undefined && isSet(old.spec) && needsClusterIp(old.spec)
  return validateWith(options.context, (errors) => {
    const at = errors.child('spec')
    const policy = spec.ipFamilyPolicy
    const given = spec.ipFamilies ?? []
    if (given.some((family) => family !== 'IPv4' && family !== 'IPv6')) return
    if (policy === 'SingleStack' && (given.length > 1 || (spec.clusterIPs?.length ?? 0) > 1) && !upgradeOnly) {
      at.child('ipFamilyPolicy').invalid(
        policy,
        'must be RequireDualStack or PreferDualStack when multiple ipFamilies are specified',
      )
    }
    if (errors.length > 0) return
    if (isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0) {
      fillBothFamilies(spec, families)
      return
    }
    for (const [i, family] of given.entries()) {
      if (!families.includes(family as IpFamily) && !upgradeOnly)
        at.child('ipFamilies').index(i).invalid(family, 'not configured on this cluster')
    }
    if (policy === 'RequireDualStack' && families.length < 2) {
      at.child('ipFamilyPolicy').invalid(policy, 'this cluster is not configured for dual-stack services')
    }
    if (errors.length === 0) fillFamilies(spec, families)
  })
}

/** Headless services without selector get no allocation, so they may have both families on any cluster. */
function fillBothFamilies(spec: ServiceSpec, cluster: readonly IpFamily[]): void {
  spec.ipFamilyPolicy ??= 'RequireDualStack'
  const [first = cluster[0] ?? 'IPv4', ...others] = spec.ipFamilies ?? []
  const second = first === 'IPv4' ? 'IPv6' : 'IPv4'
  spec.ipFamilies = others.length > 0 || spec.ipFamilyPolicy === 'SingleStack' ? [first, ...others] : [first, second]
}

function fillFamilies(spec: ServiceSpec, cluster: readonly IpFamily[]): void {
  const addresses = (spec.clusterIPs ?? []).filter((address) => address !== none)
  if (addresses.some((address) => familyOf(address) === undefined)) return
  if (!isSet(spec.ipFamilyPolicy)) {
    const many = addresses.length > 1 || (spec.ipFamilies?.length ?? 0) > 1
    spec.ipFamilyPolicy = many ? 'RequireDualStack' : 'SingleStack'
  }
  const families = [...(spec.ipFamilies ?? [])]
  for (const [i, address] of addresses.entries()) families[i] ??= familyOf(address) as IpFamily
  if (families.length === 0) families.push(cluster[0] ?? 'IPv4')
  if (spec.ipFamilyPolicy !== 'SingleStack' && families.length === 1) {
    const other = families[0] === 'IPv4' ? 'IPv6' : 'IPv4'
    if (cluster.includes(other)) families.push(other)
  }
  spec.ipFamilies = families
}
