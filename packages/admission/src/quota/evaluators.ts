import { type ApiObject, type Clock, type DeepReadonly, type GroupResource, type NamingProfile, Quantity } from '@krmkit/meta'
import type { QuotaObject, UsageEvaluator } from './interfaces.ts'
import { matchesName, podUsageEvaluator } from './pod-usage.ts'
import { one, type Usage } from './usage.ts'

/** Finds the usage evaluator of a resource; @see API protocol specification, 5.10. */
export type UsageEvaluators = (resource: GroupResource) => UsageEvaluator

/** Resources that quotas may also count by their bare name. */
const countedByName = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas'])

/**
 * Creates the evaluators of all resources: for pods, services and claims their own, for others the object count.
 *
 * @example
 * ```ts
 * import { createUsageEvaluators, formatUsage } from '@krmkit/admission/quota'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const evaluatorOf = createUsageEvaluators({ profile: stockProfile, clock: systemClock })
 * const spec = { containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '500m' } } }] }
 * const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * formatUsage(evaluatorOf({ group: '', resource: 'pods' }).usage(pod))
 * // { 'count/pods': '1', cpu: '500m', pods: '1', 'requests.cpu': '500m' }
 * ```
 */
export function createUsageEvaluators({
  profile,
  clock,
  chargeAllocatedStorage = true,
}: {
  readonly profile: NamingProfile
  readonly clock: Clock
  readonly chargeAllocatedStorage?: boolean
}): UsageEvaluators {
  const known = new Map<string, UsageEvaluator>([
    ['/pods', podUsageEvaluator({ clock, domain: profile.domain })],
    ['/services', serviceUsage()],
    ['/persistentvolumeclaims', claimUsage(profile, chargeAllocatedStorage)],
  ])
  return (resource) => {
    const key = `${resource.group}/${resource.resource}`
    let evaluator = known.get(key)
    if (evaluator === undefined) {
      evaluator = objectCountEvaluator(resource)
      // Bounded, since custom resources add names without end.
      if (known.size < 1024) known.set(key, evaluator)
    }
    return evaluator
  }
}

/** The quota resource name that counts objects: `count/deployments.apps`. */
function objectCountName({ group, resource }: GroupResource): string {
  return `count/${resource}${group === '' ? '' : `.${group}`}`
}

/** Counts objects and nothing else. */
export function objectCountEvaluator(resource: GroupResource): UsageEvaluator {
  const names = [objectCountName(resource)]
  if (resource.group === '' && countedByName.has(resource.resource)) names.push(resource.resource)
  const usage: Usage = new Map(names.map((name) => [name, one]))
  return {
    resource,
    countsUpdates: false,
    usage: () => usage,
    matchingResources: (given) => [...given].filter((name) => names.includes(name)),
    matchesScope: () => false,
  }
}

interface Service extends ApiObject {
  spec?: { type?: string; allocateLoadBalancerNodePorts?: boolean; ports?: { nodePort?: number }[] }
}

function serviceUsage(): UsageEvaluator {
  const counted = ['services', 'services.nodeports', 'services.loadbalancers', 'count/services']
  return {
    resource: { group: '', resource: 'services' },
    countsUpdates: true,
    usage(object) {
      const { type, ports = [], allocateLoadBalancerNodePorts } = (object as DeepReadonly<Service>).spec ?? {}
      const chosen = ports.filter(({ nodePort = 0 }) => nodePort !== 0).length
      const nodePorts =
        type === 'NodePort'
          ? ports.length
          : type !== 'LoadBalancer'
            ? 0
            : allocateLoadBalancerNodePorts === false
              ? chosen
              : ports.length
      return new Map([
        ['services', one],
        ['count/services', one],
        ['services.nodeports', Quantity.of(nodePorts)],
        ['services.loadbalancers', Quantity.of(type === 'LoadBalancer' ? 1 : 0)],
      ])
    },
    matchingResources: (names) => [...names].filter((name) => counted.includes(name)),
    matchesScope: () => false,
  }
}

interface Claim extends ApiObject {
  spec?: {
    storageClassName?: string
    volumeAttributesClassName?: string
    resources?: { requests?: Record<string, string> }
  }
  status?: { allocatedResources?: Record<string, string>; currentVolumeAttributesClassName?: string }
}

function claimUsage({ domain, apiDomain }: NamingProfile, chargeAllocatedStorage: boolean): UsageEvaluator {
  const suffix = `.storageclass.storage.${apiDomain}/`
  const counted = ['persistentvolumeclaims', 'requests.storage', 'count/persistentvolumeclaims']
  const ofClass = [`${suffix}persistentvolumeclaims`, `${suffix}requests.storage`]
  const classOf = (claim: DeepReadonly<Claim>): string =>
    claim.metadata.annotations?.[`volume.beta.${domain}/storage-class`] ?? claim.spec?.storageClassName ?? ''
  return {
    resource: { group: '', resource: 'persistentvolumeclaims' },
    countsUpdates: true,
    usage(object) {
      const claim = object as DeepReadonly<Claim>
      const storageClass = classOf(claim)
      const usage = new Map([
        ['persistentvolumeclaims', one],
        ['count/persistentvolumeclaims', one],
      ])
      if (storageClass !== '') usage.set(`${storageClass}${suffix}persistentvolumeclaims`, one)
      const storage = storageOf(claim, chargeAllocatedStorage)
      if (storage === undefined) return usage
      usage.set('requests.storage', storage)
      if (storageClass !== '') usage.set(`${storageClass}${suffix}requests.storage`, storage)
      return usage
    },
    matchingResources: (names) =>
      [...names].filter((name) => counted.includes(name) || ofClass.some((end) => name.endsWith(end))),
    matchesScope: (requirement, object) =>
      requirement.scopeName === 'VolumeAttributesClass' && classesOfVolume(object).some((name) => matchesName(requirement, name)),
  }
}

/** The requested storage, or the allocated storage while a failed expansion is being reverted. */
function storageOf({ spec, status }: DeepReadonly<Claim>, chargeAllocatedStorage: boolean): Quantity | undefined {
  const requested = spec?.resources?.requests?.['storage']
  if (requested === undefined) return undefined
  const request = Quantity.parse(requested)
  const given = status?.allocatedResources?.['storage']
  if (given === undefined || !chargeAllocatedStorage) return request
  const allocated = Quantity.parse(given)
  return allocated.compare(request) > 0 ? allocated : request
}

function classesOfVolume(object: QuotaObject): string[] {
  const { spec, status } = object as DeepReadonly<Claim>
  return [spec?.volumeAttributesClassName ?? '', status?.currentVolumeAttributesClassName ?? '']
}
