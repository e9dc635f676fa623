import { type ApiObject, type DeepReadonly, Quantity } from '@krmkit/meta'
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

/** A sentence for each bound that a pod or a claim breaks, in the order of the range. */
export function brokenBounds(
  limits: readonly DeepReadonly<LimitItem>[],
  object: DeepReadonly<ApiObject>,
  resource: string,
): string[] {
  return limits.flatMap((item) => {
    if (resource === 'persistentvolumeclaims') return item.type === 'PersistentVolumeClaim' ? brokenByClaim(item, object) : []
    const { spec } = object as DeepReadonly<Pod>
    if (item.type === 'Container') return brokenByContainers(item, spec)
    if (item.type !== 'Pod') return []
    return broken(item, { type: 'Pod', requests: podAmounts(spec, 'requests'), limits: podAmounts(spec, 'limits') })
  })
}

function brokenByContainers(item: DeepReadonly<LimitItem>, spec: DeepReadonly<PodSpec>): string[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    broken(item, { type: 'Container', requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) }),
  )
}

function broken({ min, max, maxLimitRequestRatio }: DeepReadonly<LimitItem>, bounded: Bounded): string[] {
  return [
    ...each(min, (name, bound) => belowMinimum(name, bound, bounded)),
    ...each(max, (name, bound) => aboveMaximum(name, bound, bounded)),
    ...each(maxLimitRequestRatio, (name, bound) => aboveRatio(name, bound, bounded)),
  ]
}

/** What a claim is limited to does not count. */
function brokenByClaim({ min, max }: DeepReadonly<LimitItem>, object: DeepReadonly<ApiObject>): string[] {
  const { spec } = object as DeepReadonly<{ spec?: { resources?: { requests?: ResourceAmounts } } }>
  const requests = amountsOf(spec?.resources?.requests)
  const bounded = { type: 'PersistentVolumeClaim', requests, limits: new Map() }
  return [
    ...each(min, (name, bound) => belowMinimum(name, bound, bounded)),
    ...each(max, (name, bound) => {
      const request = requests.get(name)
      const text = `maximum ${name} usage per ${bounded.type} is ${bound}`
      if (request === undefined) return `${text}.  No request is specified`
      return request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined
    }),
  ]
}

function each(
  bounds: DeepReadonly<ResourceAmounts> | undefined,
  check: (name: string, bound: Quantity) => string | undefined,
): string[] {
  if (bounds === undefined) return []
  return Object.keys(bounds)
    .sort()
    .map((name) => check(name, Quantity.parse(bounds[name] ?? '0')))
    .filter((text) => text !== undefined)
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
