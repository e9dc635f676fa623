import { type Clock, type DeepReadonly, parseTime, type Quantity } from '@krmkit/meta'
import type { Container, Pod, PodAffinity } from '../pod.ts'
import { isBestEffort } from '../pod-quality.ts'
import { addTo, amountsOf, podAmounts } from '../resource-amounts.ts'
import { isExtendedResource } from '../resource-names.ts'
import type { QuotaObject, ScopeRequirement, UsageEvaluator } from './interfaces.ts'
import { one, type Usage } from './usage.ts'

/** What a pod costs: itself, and what its containers ask for, until it has ended. */

const computed = ['cpu', 'memory', 'ephemeral-storage']
const objectCount = 'count/pods'
const known = new Set([
  objectCount,
  'pods',
  ...computed,
  ...computed.map((name) => `requests.${name}`),
  ...computed.map((name) => `limits.${name}`),
])
/** Where a quota names these, every container has to say them. */
const mustBeSaid = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'])

export function podUsage({ clock, domain }: { readonly clock: Clock; readonly domain: string }): UsageEvaluator {
  return {
    resource: { group: '', resource: 'pods' },
    countsUpdates: true,
    usage(object) {
      const pod = object as DeepReadonly<Pod>
      const usage = new Map([[objectCount, one]])
      if (hasEnded(pod, clock.now())) return usage
      const requests = podAmounts(pod.spec, 'requests')
      const limits = podAmounts(pod.spec, 'limits')
      const overhead = amountsOf(pod.spec.overhead)
      addTo(requests, overhead)
      // What has no limit has none with the overhead either.
      addTo(limits, new Map([...overhead].filter(([name]) => limits.get(name)?.isZero() === false)))
      addTo(usage, computeUsage({ requests, limits }, domain))
      return usage
    },
    matching: (names) =>
      [...names].filter(
        (name) =>
          known.has(name) ||
          name.startsWith('hugepages-') ||
          name.startsWith('requests.hugepages-') ||
          isExtendedRequest(name, domain),
      ),
    matchesScope: (requirement, object) => matchesScope(requirement, object as DeepReadonly<Pod>),
    unmet: (required, object) => unsaid(required, object, domain),
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
    if (computed.includes(name) || name.startsWith('hugepages-')) {
      usage.set(name, amount)
      usage.set(`requests.${name}`, amount)
    } else if (isExtendedResource(name, domain)) usage.set(`requests.${name}`, amount)
  }
  for (const name of computed) {
    const limit = limits.get(name)
    if (limit !== undefined) usage.set(`limits.${name}`, limit)
  }
  return usage
}

/** Whether nothing of it runs any more, or should. */
function hasEnded({ metadata, status }: DeepReadonly<Pod>, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata
  // A node that is lost never says that the pod is gone.
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds !== undefined &&
    now > parseTime(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  )
}

function unsaid(required: readonly string[], object: QuotaObject, domain: string): string | undefined {
  const wanted = required.filter((name) => mustBeSaid.has(name))
  if (wanted.length === 0) return undefined
  const { spec } = object as DeepReadonly<Pod>
  const missing = new Map<string, Set<string>>()
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const said = saidBy(container, domain)
    for (const name of wanted) {
      if (said.has(name)) continue
      const containers = missing.get(name) ?? new Set()
      missing.set(name, containers.add(container.name))
    }
  }
  if (missing.size === 0) return undefined
  const texts = [...missing.keys()].sort().map((name) => `${name} for: ${[...(missing.get(name) ?? [])].sort().join(',')}`)
  return `must specify ${texts.join('; ')}`
}

function saidBy({ resources }: DeepReadonly<Container>, domain: string): Usage {
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
      return reachesElsewhere(pod.spec.affinity?.podAffinity) || reachesElsewhere(pod.spec.affinity?.podAntiAffinity)
    default:
      return false
  }
}

/** Whether a name, if there is one, is as the requirement wants it. */
export function matchesName({ operator, values = [] }: DeepReadonly<ScopeRequirement>, name: string): boolean {
  if (operator === 'Exists') return name !== ''
  if (operator === 'DoesNotExist') return name === ''
  if (operator === 'In') return values.includes(name) && name !== ''
  return operator === 'NotIn' && !values.includes(name)
}

function reachesElsewhere(affinity: DeepReadonly<PodAffinity> | undefined): boolean {
  const terms = [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
  ]
  return terms.some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined)
}
