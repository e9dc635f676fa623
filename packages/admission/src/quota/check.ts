import type { DeepReadonly, Quantity } from '@krmkit/meta'
import type { AdmissionAttributes } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { counts, type QuotaObject, type ResourceQuota, type UsageEvaluator } from './interfaces.ts'
import { type LimitedResource, uncovered } from './limited.ts'
import { minus, only, parseUsage, plus, printUsage, type Usage, withoutZeros } from './usage.ts'

/** Whether a request fits into the quotas of its namespace, and what it costs them. */

/** A quota while requests are weighed against it. */
export interface WeighedQuota {
  readonly quota: DeepReadonly<ResourceQuota>
  readonly hard: ReadonlyMap<string, Quantity>
  /** With what was weighed before. */
  used: ReadonlyMap<string, Quantity>
}

export function weighed(quota: DeepReadonly<ResourceQuota>): WeighedQuota {
  return { quota, hard: parseUsage(quota.status?.hard), used: parseUsage(quota.status?.used) }
}

/** What one request adds to one quota. */
export interface Charge {
  readonly to: WeighedQuota
  readonly cost: Usage
}

/**
 * What a request costs each quota; nothing when it costs nothing.
 *
 * @throws ApiError 403 when it does not fit.
 */
export function chargesOf(
  quotas: readonly WeighedQuota[],
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
  const interesting: WeighedQuota[] = []
  for (const each of quotas) {
    if (!counts(evaluator, each, object)) continue
    const { name = '' } = each.quota.metadata
    const restricted = evaluator.matching(each.hard.keys())
    const unmet = evaluator.unmet?.(restricted, object)
    if (unmet !== undefined) throw refuse(`failed quota: ${name}: ${unmet}`)
    if (restricted.some((resource) => !each.used.has(resource))) {
      throw refuse(`status unknown for quota: ${name}, resources: ${restricted.sort().join(',')}`)
    }
    interesting.push(each)
  }
  if (interesting.length === 0 && limited.length === 0) return []
  const usage = evaluator.usage(object)
  const negative = [...usage].filter(([, amount]) => amount.sign() < 0).map(([name]) => name)
  if (negative.length > 0) throw refuse(`quota usage is negative for resource(s): ${negative.sort().join(',')}`)
  const old = attributes.operation === 'UPDATE' ? attributes.oldObject : undefined
  const before = old === undefined ? undefined : evaluator.usage(old)
  const added = before === undefined ? withoutZeros(usage) : withoutZeros(minus(usage, before))
  // A quota that did not count the object before its change counts all of it now.
  const costs = interesting.map((to) => ({
    to,
    cost: old !== undefined && !counts(evaluator, to, old) ? withoutZeros(usage) : added,
  }))
  if (added.size > 0) {
    const wrong = uncovered(limited, { attributes, object, evaluator, added, quotas: interesting })
    if (wrong !== undefined) throw refuse(wrong)
  }
  return costs.flatMap(({ to, cost: whole }) => {
    const cost = only(whole, to.hard)
    if (cost.size === 0) return []
    checkFits(to, cost, refuse)
    return [{ to, cost }]
  })
}

function checkFits({ quota, hard, used }: WeighedQuota, cost: Usage, refuse: (detail: string) => Error): void {
  const next = only(plus(used, cost), cost)
  const exceeded = new Set(
    [...next].filter(([name, amount]) => amount.compare(hard.get(name) ?? amount) > 0).map(([name]) => name),
  )
  if (exceeded.size === 0) return
  const [requested, soFar, limits] = [cost, used, hard].map((usage) => printUsage(only(usage, exceeded)))
  throw refuse(`exceeded quota: ${quota.metadata.name}, requested: ${requested}, used: ${soFar}, limited: ${limits}`)
}
