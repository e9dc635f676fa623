import { resourceType } from '@krmkit/client'
import { type ApiObject, type DeepReadonly, formatTime, parseTime } from '@krmkit/meta'
import { type IntOrString, parsePercent, scaledValue } from '@krmkit/meta/int-or-string'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import type { Condition } from '@krmkit/meta/validation'

export interface Budget extends ApiObject {
  spec?: { minAvailable?: IntOrString; maxUnavailable?: IntOrString; selector?: LabelSelectorObject | null }
  status?: BudgetStatus
}

export interface BudgetStatus {
  observedGeneration?: number
  disruptedPods?: Record<string, string>
  disruptionsAllowed?: number
  currentHealthy?: number
  desiredHealthy?: number
  expectedPods?: number
  conditions?: Condition[]
}

export interface Pod extends ApiObject {
  status?: { phase?: string; conditions?: { type: string; status: string }[] }
}

export const budgets = resourceType<Budget>({
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
})

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

/** An eviction without a deletion within this time no longer counts. */
export const evictionMs = 2 * 60_000

/** The expected number of pods, and how many of them must be healthy. */
export interface DesiredPods {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/**
 * Computes the expected pods of a budget.
 *
 * @param scale returns the number of replicas of all controllers of the pods; called only for `maxUnavailable` and for a
 *   percentage
 */
export async function desiredPods(
  spec: DeepReadonly<NonNullable<Budget['spec']>>,
  podCount: number,
  scale: () => Promise<number>,
): Promise<DesiredPods> {
  const { minAvailable, maxUnavailable } = spec
  if (maxUnavailable !== undefined) {
    const expectedPods = await scale()
    const unavailable = scaledValue(maxUnavailable, expectedPods, { roundUp: true })
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - unavailable) }
  }
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 }
  if (parsePercent(minAvailable) === undefined) return { expectedPods: podCount, desiredHealthy: Number(minAvailable) }
  const expectedPods = await scale()
  return { expectedPods, desiredHealthy: scaledValue(minAvailable, expectedPods, { roundUp: true }) }
}

/**
 * Returns the pods that were evicted but not deleted yet, by name, and the time at which the first of these entries expires.
 */
export function disruptedPods(
  budget: DeepReadonly<Budget>,
  covered: readonly DeepReadonly<Pod>[],
  nowMs: number,
): { readonly pods: Record<string, string>; readonly recheckAtMs: number | undefined } {
  const found = new Map<string, string>()
  let recheckAtMs: number | undefined
  const evicted = new Map(Object.entries(budget.status?.disruptedPods ?? {}))
  for (const { metadata } of covered) {
    const name = metadata.name ?? ''
    const time = evicted.get(name)
    if (time === undefined || metadata.deletionTimestamp !== undefined) continue
    const until = parseTime(time) + evictionMs
    if (until < nowMs) continue
    found.set(name, time)
    recheckAtMs = Math.min(recheckAtMs ?? until, until)
  }
  return { pods: Object.fromEntries(found), recheckAtMs }
}

/** Counts the pods that are ready, not terminating and not evicted. */
export function countHealthy(covered: readonly DeepReadonly<Pod>[], disrupted: Readonly<Record<string, string>>): number {
  return covered.filter(({ metadata, status }) => {
    if (metadata.deletionTimestamp !== undefined || Object.hasOwn(disrupted, metadata.name ?? '')) return false
    return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
  }).length
}

/** Computes the status from the counts. */
export function budgetStatus(
  budget: DeepReadonly<Budget>,
  counted: DesiredPods & { readonly currentHealthy: number; readonly disruptedPods: Readonly<Record<string, string>> },
  nowMs: number,
): BudgetStatus {
  const { expectedPods, desiredHealthy, currentHealthy } = counted
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const observedGeneration = budget.metadata.generation ?? 0
  const outcome =
    disruptionsAllowed > 0
      ? { status: 'True', reason: 'SufficientPods', message: '' }
      : { status: 'False', reason: 'InsufficientPods', message: '' }
  return {
    observedGeneration,
    ...(Object.keys(counted.disruptedPods).length === 0 ? {} : { disruptedPods: { ...counted.disruptedPods } }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withCondition(budget.status?.conditions, { ...outcome, observedGeneration }, nowMs),
  }
}

/** Returns the status after a failed count: no disruption is allowed. */
export function failedStatus(budget: DeepReadonly<Budget>, message: string, nowMs: number): BudgetStatus {
  const { status = {}, metadata } = budget
  const outcome = { status: 'False', reason: 'SyncFailed', message, observedGeneration: metadata.generation ?? 0 }
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...(structuredClone(status) as BudgetStatus),
    disruptionsAllowed: 0,
    conditions: withCondition(status.conditions, outcome, nowMs),
  }
}

const conditionType = 'DisruptionAllowed'

function withCondition(
  before: readonly DeepReadonly<Condition>[] = [],
  outcome: Omit<Condition, 'type' | 'lastTransitionTime'>,
  nowMs: number,
): Condition[] {
  const old = before.find(({ type }) => type === conditionType)
  const lastTransitionTime = old?.status === outcome.status ? old.lastTransitionTime : formatTime(nowMs)
  const made: Condition = { type: conditionType, ...outcome, lastTransitionTime }
  const copies = before.map((condition) => ({ ...condition }))
  return old === undefined ? [...copies, made] : copies.map((condition) => (condition.type === conditionType ? made : condition))
}
