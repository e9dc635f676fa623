import { type ApiObject, type DeepReadonly, maxFieldErrors, Quantity } from '@krmkit/meta'
import type { Pod, PodSpec, ResourceAmounts } from './pod.ts'
import { type Amounts, amountsOf, podAmounts } from './resource-amounts.ts'

/** The bounds of limit ranges, and what breaks them. */

export interface LimitItem {
  type: string
  default?: ResourceAmounts
  defaultRequest?: ResourceAmounts
  max?: ResourceAmounts
  min?: ResourceAmounts
  maxLimitRequestRatio?: ResourceAmounts
}

interface Bounded {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  readonly type: string
  readonly requests: Amounts
  readonly limits: Amounts
}

/** A sentence for each bound that a pod or a claim breaks, in the order of the range; the first thousand of them. */
export function brokenBounds(
  limits: readonly DeepReadonly<LimitItem>[],
  object: DeepReadonly<ApiObject>,
  resource: string,
): string[] {
  const texts: string[] = []
  // What breaks no bound is as large as the bounds, so that this takes no longer than reading the object.
  for (const text of allBroken(limits, object, resource)) if (texts.push(text) >= maxFieldErrors) break
  return texts
}

function* allBroken(
  limits: readonly DeepReadonly<LimitItem>[],
  object: DeepReadonly<ApiObject>,
  resource: string,
): Generator<string> {
  for (const item of limits) {
    if (resource === 'persistentvolumeclaims') {
      if (item.type === 'PersistentVolumeClaim') yield* brokenByClaim(item, object)
      continue
    }
    const { spec } = object as DeepReadonly<Pod>
    if (item.type === 'Container') yield* brokenByContainers(item, spec)
    else if (item.type === 'Pod')
      yield* broken(boundsOf(item), { type: 'Pod', requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') })
  }
}

function* brokenByContainers(item: DeepReadonly<LimitItem>, spec: DeepReadonly<PodSpec>): Generator<string> {
  const bounds = boundsOf(item)
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
    yield* broken(bounds, { type: 'Container', requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) })
}

type Bound = readonly [name: string, bound: Quantity]

interface Bounds {
  readonly min: readonly Bound[]
  readonly max: readonly Bound[]
  readonly ratio: readonly Bound[]
}

function boundsOf({ min, max, maxLimitRequestRatio }: DeepReadonly<LimitItem>): Bounds {
  return { min: sorted(min), max: sorted(max), ratio: sorted(maxLimitRequestRatio) }
}

function sorted(bounds: DeepReadonly<ResourceAmounts> | undefined): Bound[] {
  if (bounds === undefined) return []
  return Object.keys(bounds)
    .sort()
    .map((name) => [name, Quantity.parse(bounds[name] ?? '0')])
}

function* broken({ min, max, ratio }: Bounds, bounded: Bounded): Generator<string> {
  yield* each(min, (name, bound) => belowMinimum(name, bound, bounded))
  yield* each(max, (name, bound) => aboveMaximum(name, bound, bounded))
  yield* each(ratio, (name, bound) => aboveRatio(name, bound, bounded))
}

/** What a claim is limited to does not count. */
function* brokenByClaim(item: DeepReadonly<LimitItem>, object: DeepReadonly<ApiObject>): Generator<string> {
  const { spec } = object as DeepReadonly<{ spec?: { resources?: { requests?: ResourceAmounts } } }>
  const requests = amountsOf(spec?.resources?.requests)
  const bounded = { type: 'PersistentVolumeClaim', requests, limits: new Map() }
  const { min, max } = boundsOf(item)
  yield* each(min, (name, bound) => belowMinimum(name, bound, bounded))
  yield* each(max, (name, bound) => {
    const request = requests.get(name)
    const text = `maximum ${name} usage per ${bounded.type} is ${bound}`
    if (request === undefined) return `${text}.  No request is specified`
    return request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined
  })
}

function* each(bounds: readonly Bound[], check: (name: string, bound: Quantity) => string | undefined): Generator<string> {
  for (const [name, bound] of bounds) {
    const text = check(name, bound)
    if (text !== undefined) yield text
  }
}

function belowMinimum(name: string, bound: Quantity, { type, requests, limits }: Bounded): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `minimum ${name} usage per ${type} is ${bound}`
  if (request === undefined) return `${text}.  No request is specified`
  if (request.compare(bound) < 0) return `${text}, but request is ${request}`
  return limit !== undefined && limit.compare(bound) < 0 ? `${text}, but limit is ${limit}` : undefined
}

function aboveMaximum(name: string, bound: Quantity, { type, requests, limits }: Bounded): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `maximum ${name} usage per ${type} is ${bound}`
  if (limit === undefined) return `${text}.  No limit is specified`
  if (limit.compare(bound) > 0) return `${text}, but limit is ${limit}`
  return request !== undefined && request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined
}

function aboveRatio(name: string, bound: Quantity, { type, requests, limits }: Bounded): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `${name} max limit to request ratio per ${type} is ${bound}`
  if (request === undefined || request.isZero()) return `${text}, but no request is specified or request is 0`
  if (limit === undefined || limit.isZero()) return `${text}, but no limit is specified or limit is 0`
  const ratio = limit.approximate() / request.approximate()
  return ratio > bound.approximate() ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}
