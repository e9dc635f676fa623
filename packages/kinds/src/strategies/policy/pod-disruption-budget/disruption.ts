/** What an eviction takes from the disruption budget of its pod. */
import { ApiError, type DeepReadonly, formatTime } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { copyJson } from '@krmkit/schema/json'
import type { Pod } from '../../../types/core-v1.generated.ts'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../types/policy-v1.generated.ts'

type Budget = DeepReadonly<PodDisruptionBudget>

/**
 * Returns the budget that protects a pod, and whether its eviction takes a disruption from it; `undefined`: no budget protects the pod.
 * {@link takeDisruption} has an example.
 *
 * @param budgets those of the pod's namespace.
 * @throws ApiError 500 when several budgets select the pod.
 */
export function protectingBudget(
  budgets: readonly Budget[],
  pod: DeepReadonly<Pod>,
): { readonly budget: Budget; readonly isCharged: boolean } | undefined {
  const [budget, ...others] = budgets.filter((each) => covers(each, pod))
  if (others.length > 0) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    throw new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
  }
  return budget === undefined ? undefined : { budget, isCharged: !spares(budget, pod) }
}

function covers({ spec }: Budget, { metadata }: DeepReadonly<Pod>): boolean {
  return spec?.selector !== undefined && labelSelectorFromObject(spec.selector).matches(metadata.labels ?? {})
}

/** An unready pod is evicted without charge when the policy allows it, or when the healthy pods suffice. */
function spares({ spec, status }: Budget, pod: DeepReadonly<Pod>): boolean {
  const ready = (pod.status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True')
  if (ready) return false
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/**
 * Returns a copy of the budget with one disruption less, which names the evicted pod.
 *
 * @param now milliseconds since the epoch.
 * @throws ApiError 429 when no disruption is left, or when the controller has not seen the newest spec.
 * @example
 * import type { Pod } from '@krmkit/kinds/core/v1'
 * import type { PodDisruptionBudget } from '@krmkit/kinds/policy/v1'
 * import { protectingBudget, takeDisruption } from '@krmkit/kinds/strategies'
 * declare const budgets: readonly PodDisruptionBudget[]
 * declare const pod: Pod
 * const protection = protectingBudget(budgets, pod)
 * const next = protection?.isCharged === true ? takeDisruption(protection.budget, 'web-0', Date.now()) : undefined
 */
export function takeDisruption(budget: Budget, podName: string, now: number): PodDisruptionBudget {
  const { name, generation = 0 } = budget.metadata
  const { observedGeneration = 0, disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {}
  if (observedGeneration < generation) throw unsettledBudget(name)
  if (disruptionsAllowed <= 0) {
    throw refusal(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`, 0)
  }
  const charged = copyJson(budget as PodDisruptionBudget & { status: PodDisruptionBudgetStatus })
  charged.status.disruptionsAllowed = disruptionsAllowed - 1
  charged.status.disruptedPods = { ...charged.status.disruptedPods, [podName]: formatTime(now) }
  return charged
}

/**
 * The refusal of an eviction that depends on the state of a budget or its pods, which has changed meanwhile: 429, to be tried again.
 *
 * @example
 * import { unsettledBudget } from '@krmkit/kinds/strategies'
 * unsettledBudget('web').status.code // 429
 */
export function unsettledBudget(name: string | undefined): ApiError {
  return refusal(`The disruption budget ${name} is still being processed by the server.`, 10)
}

function refusal(cause: string, retryAfterSeconds: number): ApiError {
  const error = ApiError.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds)
  const causes = [{ reason: 'DisruptionBudget', message: cause }]
  return new ApiError({ ...error.status, details: { causes, ...error.status.details } })
}
