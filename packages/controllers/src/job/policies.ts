import type { DeepReadonly } from '@krmkit/meta'
import type { ContainerStatus, ReadonlyPod } from '../workloads/objects.ts'
import { IndexSet } from './index-set.ts'
import type { FailureRule, ReadonlyJob } from './objects.ts'

/** Evaluates the pod failure policy and the success policy of jobs. */

/** The decision of the failure policy about a failed pod. */
export interface FailureDecision {
  /** The action of the matching rule. Undefined: no rule matched. */
  readonly action: string | undefined
  /** Whether the failure counts towards the backoff limits. */
  readonly counts: boolean
  /** Message of the failed job, when a rule fails it. */
  readonly message?: string
}

const counted: FailureDecision = { action: undefined, counts: true }

/** Applies the first matching rule of the failure policy to a failed pod. */
export function decideFailure({ spec }: ReadonlyJob, pod: ReadonlyPod): FailureDecision {
  for (const [index, rule] of (spec?.podFailurePolicy?.rules ?? []).entries()) {
    const cause = matchRule(rule, pod)
    if (cause === undefined) continue
    const { action } = rule
    if (action === 'Ignore') return { action, counts: false }
    if (action === 'FailJob') return { action, counts: true, message: `${cause} matching ${action} rule at index ${index}` }
    if (action === 'Count' || action === 'FailIndex') return { action, counts: true }
  }
  return counted
}

/** Returns a description of what a rule matches in a pod; undefined when the rule does not match. */
function matchRule({ onExitCodes, onPodConditions }: DeepReadonly<FailureRule>, pod: ReadonlyPod): string | undefined {
  const { name = '', namespace = '' } = pod.metadata
  if (onExitCodes != null) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    const failed = [...containerStatuses, ...initContainerStatuses].find((status) => matchExitCode(status, onExitCodes))
    if (failed === undefined) return undefined
    return `Container ${failed.name} for pod ${namespace}/${name} failed with exit code ${failed.state?.terminated?.exitCode}`
  }
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    onPodConditions?.some((pattern) => pattern.type === type && pattern.status === status),
  )
  return condition === undefined ? undefined : `Pod ${namespace}/${name} has condition ${condition.type}`
}

function matchExitCode(
  { name, state }: DeepReadonly<ContainerStatus>,
  { containerName, operator, values = [] }: DeepReadonly<NonNullable<FailureRule['onExitCodes']>>,
): boolean {
  const exitCode = state?.terminated?.exitCode
  if (exitCode === undefined || exitCode === 0) return false
  if (containerName != null && containerName !== name) return false
  return values.includes(exitCode) === (operator === 'In')
}

/** Returns the message of the first success policy rule that the succeeded indexes satisfy. */
export function metSuccessRule({ spec }: ReadonlyJob, succeeded: IndexSet): string | undefined {
  if (succeeded.size === 0) return undefined
  const rules = spec?.successPolicy?.rules ?? []
  const met = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    const enough = succeededCount ?? Number.POSITIVE_INFINITY
    if (succeededIndexes == null) return succeeded.size >= enough
    const required = IndexSet.parse(succeededIndexes, spec?.completions ?? 0)
    const found = required.overlap(succeeded)
    return required.size > 0 && (found === required.size || found >= enough)
  })
  return met < 0 ? undefined : `Matched rules at index ${met}`
}
