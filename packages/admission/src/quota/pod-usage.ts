import { type Clock, type DeepReadonly, parseTime, type Quantity } from '@krmkit/meta'
import type { Container, Pod, PodAffinity } from '../pod.ts'
import { isBestEffort } from '../pod-qos.ts'
import { addTo, amountsOf, hasPodLevelResources, podAmounts } from '../resource-amounts.ts'
import { isExtendedResource } from '../resource-names.ts'
import type { QuotaObject, ScopeRequirement, UsageEvaluator } from './interfaces.ts'
import { one, type Usage } from './usage.ts'

/** The usage of a pod: its count, and until it terminates the requests and limits of its containers. */

const computeResources = ['cpu', 'memory', 'ephemeral-storage']
const objectCount = 'count/pods'
const known = new Set([
  objectCount,
  'pods',
  ...computeResources,
  ...computeResources.map((name) => `requests.${name}`),
  ...computeResources.map((name) => `limits.${name}`),
])
/** When a quota limits these, every container must set them. */
const requiredResources = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

export function podUsageEvaluator({ clock, domain }: { readonly clock: Clock; readonly domain: string }): UsageEvaluator {
  return {
    resource: { group: '', resource: 'pods' },
    countsUpdates: true,
    usage(object) {
      const pod = object as DeepReadonly<Pod>
      const usage = new Map([[objectCount, one]])
      if (isTerminated(pod, clock.now())) return usage
      const requests = podAmounts(pod, 'requests', { fromStatus: true })
      const limits = podAmounts(pod, 'limits', { fromStatus: true })
      const overhead = amountsOf(pod.spec.overhead)
      addTo(requests, overhead)
      // The overhead counts only towards limits that the pod sets.
      addTo(limits, new Map([...overhead].filter(([name]) => limits.get(name)?.isZero() === false)))
      addTo(usage, computeUsage({ requests, limits }, domain))
      return usage
    },
    matchingResources: (names) =>
      [...names].filter(
        (name) =>
          known.has(name) ||
          name.startsWith('hugepages-') ||
          name.startsWith('requests.hugepages-') ||
          isExtendedRequest(name, domain),
      ),
    matchesScope: (requirement, object) => matchesScope(requirement, object as DeepReadonly<Pod>),
    unmetConstraint: (required, object) => missingResources(required, object, domain),
  }
}

function isExtendedRequest(name: string, domain: string): boolean {
  return name.startsWith('requests.') && name.includes('/') && !name.includes(`${domain}/`)
}

function computeUsage(
  { requests, limits }: { readonly requests: Usage; readonly limits: Usage },
  domain: string,
): Map<string, Quantity> {
  const usage = new Map([['pods', one]])
  for (const [name, amount] of requests) {
    if (computeResources.includes(name) || name.startsWith('hugepages-')) {
      usage.set(name, amount)
      usage.set(`requests.${name}`, amount)
    } else if (isExtendedResource(name, domain)) usage.set(`requests.${name}`, amount)
  }
  for (const name of computeResources) {
    const limit = limits.get(name)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
  return usage
}

/** Whether the pod has terminated, or is past its deletion grace period. */
function isTerminated({ metadata, status }: DeepReadonly<Pod>, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  // A lost node never confirms the deletion.
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds !== undefined &&
    now > parseTime(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  )
}

function missingResources(required: readonly string[], object: QuotaObject, domain: string): string | undefined {
  const wanted = required.filter((name) => requiredResources.has(name))
  if (wanted.length === 0) return undefined
  const pod = object as DeepReadonly<Pod>
  if (hasPodLevelResources(pod)) return undefined
  const { spec } = pod
  const missing = new Map<string, Set<string>>()
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const usage = containerUsage(container, domain)
    for (const name of wanted) {
      if (usage.has(name)) continue
      const containers = missing.get(name) ?? new Set()
      missing.set(name, containers.add(container.name))
    }
  }
  if (missing.size === 0) return undefined
  const texts = [...missing.keys()].sort().map((name) => `${name} for: ${[...(missing.get(name) ?? [])].sort().join(',')}`)
  return `must specify ${texts.join('; ')}`
}

function containerUsage({ resources }: DeepReadonly<Container>, domain: string): Usage {
  return computeUsage({ requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) }, domain)
}

function matchesScope(requirement: DeepReadonly<ScopeRequirement>, pod: DeepReadonly<Pod>): boolean {
  const { activeDeadlineSeconds } = pod.spec
  const isTerminating = activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating
    case 'NotTerminating':
      return !isTerminating
    case 'BestEffort':
      return isBestEffort(pod)
    case 'NotBestEffort':
      return !isBestEffort(pod)
    case 'PriorityClass':
      return matchesName(requirement, pod.spec.priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod.spec.affinity?.podAffinity) || crossesNamespaces(pod.spec.affinity?.podAntiAffinity)
    default:
      return false
  }
}

/** Whether a class name satisfies a scope requirement. */
export function matchesName({ operator, values = [] }: DeepReadonly<ScopeRequirement>, name: string): boolean {
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  if (operator === 'In') return values.includes(name) && name !== ''
  return operator === 'NotIn' && !values.includes(name)
}

function crossesNamespaces(affinity: DeepReadonly<PodAffinity> | undefined): boolean {
  const terms = [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
  ]
  return terms.some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined)
}
