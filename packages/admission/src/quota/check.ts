import type { DeepReadonly, Quantity } from '@krmkit/meta'
import type { AdmissionAttributes } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { matchesQuota, type QuotaObject, type ResourceQuota, type UsageEvaluator } from './interfaces.ts'
import { type LimitedResource, uncoveredMessage } from './limited.ts'
import { addUsage, increases, maskUsage, parseUsage, printUsage, subtractUsage, type Usage, withoutZeros } from './usage.ts'

/** Whether a request fits into the quotas of its namespace, and what it charges to them. */

/** A quota with its parsed limits and the usage while a batch of requests is charged. */
export interface QuotaState {
  readonly quota: DeepReadonly<ResourceQuota>
  readonly hard: ReadonlyMap<string, Quantity>
  /** Includes the requests of the batch that were accepted so far. */
  used: ReadonlyMap<string, Quantity>
}

export function quotaState(quota: DeepReadonly<ResourceQuota>): QuotaState {
  return { quota, hard: parseUsage(quota.status?.hard), used: parseUsage(quota.status?.used) }
}

/** The usage that one request adds to one quota. */
export interface Charge {
  readonly to: QuotaState
  readonly cost: Usage
}

/**
 * The charges of a request to each quota; empty when it changes no usage.
 *
 * @throws ApiError 403 when it does not fit.
 */
export function computeCharges(
  quotas: readonly QuotaState[],
  {
    attributes,
    object,
    evaluator,
    limited,
  }: {
    readonly attributes: AdmissionAttributes
    readonly object: QuotaObject
    readonly evaluator: UsageEvaluator
    readonly limited: readonly LimitedResource[]
  },
): readonly Charge[] {
  const refuse = (detail: string) => forbidden(attributes, object, detail)
  const applicable: QuotaState[] = []
  for (const each of quotas) {
    if (!matchesQuota(evaluator, each, object)) continue
    const { name = '' } = each.quota.metadata
    const restricted = evaluator.matchingResources(each.hard.keys())
    const unmet = evaluator.unmetConstraint?.(restricted, object)
    if (unmet !== undefined) throw refuse(`failed quota: ${name}: ${unmet}`)
    if (restricted.some((resource) => !each.used.has(resource))) {
      throw refuse(`status unknown for quota: ${name}, resources: ${restricted.sort().join(',')}`)
    }
    applicable.push(each)
  }
  if (applicable.length === 0 && limited.length === 0) return []
  const usage = evaluator.usage(object)
  const negative = [...usage].filter(([, amount]) => amount.sign() < 0).map(([name]) => name)
  if (negative.length > 0) throw refuse(`quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const old = attributes.operation === 'UPDATE' ? attributes.oldObject : undefined
  const before = old === undefined ? undefined : evaluator.usage(old)
  // Released usage is left to the recount of the quota controller.
  const added = before === undefined ? withoutZeros(usage) : increases(subtractUsage(usage, before))
  // A quota whose scopes did not match the old object is charged the whole usage.
  const costs = applicable.map((to) => ({
    to,
    cost: old !== undefined && !matchesQuota(evaluator, to, old) ? withoutZeros(usage) : added,
  }))
  const isFree = applicable.length === 0 ? added.size === 0 : costs.every(({ cost }) => cost.size === 0)
  if (isFree) return []
  const wrong = uncoveredMessage(limited, { attributes, object, evaluator, usage, quotas: applicable })
  if (wrong !== undefined) throw refuse(wrong)
  return costs.flatMap(({ to, cost: whole }) => {
    const cost = maskUsage(whole, to.hard)
    if (cost.size === 0) return []
    checkFits(to, cost, refuse)
    return [{ to, cost }]
  })
}

function checkFits({ quota, hard, used }: QuotaState, cost: Usage, refuse: (detail: string) => Error): void {
  const next = maskUsage(addUsage(used, cost), cost)
  const exceeded = new Set(
    [...next].filter(([name, amount]) => amount.compare(hard.get(name) ?? amount) > 0).map(([name]) => name),
  )
  if (exceeded.size === 0) return
  const [requested, soFar, limits] = [cost, used, hard].map((usage) => printUsage(maskUsage(usage, exceeded)))
  throw refuse(`exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${soFar}, limited: ${limits}`)
}
