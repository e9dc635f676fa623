import { type ApiObject, type DeepReadonly, Quantity } from '@krmkit/meta'
import { maxFieldErrors } from '@krmkit/meta/validation'
import type { Pod, PodSpec, ResourceAmounts } from './pod.ts'
import { type Amounts, amountsOf, podAmounts } from './resource-amounts.ts'

/** The constraints of limit ranges. */

export interface LimitItem {
  type: string
  default?: ResourceAmounts
  defaultRequest?: ResourceAmounts
  max?: ResourceAmounts
  min?: ResourceAmounts
  maxLimitRequestRatio?: ResourceAmounts
}

interface ConstrainedAmounts {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  readonly type: string
  readonly requests: Amounts
  readonly limits: Amounts
}

/** One message for each violated constraint of a pod or claim, in the order of the range; at most `maxFieldErrors`. */
export function limitRangeViolations(
  limits: readonly DeepReadonly<LimitItem>[],
  object: DeepReadonly<ApiObject>,
  resource: string,
): string[] {
  const messages: string[] = []
  // Capped, so that the cost stays linear in the size of the object and the range.
  for (const text of violations(limits, object, resource)) if (messages.push(text) >= maxFieldErrors) break
  return messages
}

function* violations(
  limits: readonly DeepReadonly<LimitItem>[],
  object: DeepReadonly<ApiObject>,
  resource: string,
): Generator<string> {
  for (const item of limits) {
    if (resource === 'persistentvolumeclaims') {
      if (item.type === 'PersistentVolumeClaim') yield* claimViolations(item, object)
      continue
    }
    const pod = object as DeepReadonly<Pod>
    if (item.type === 'Container') yield* containerViolations(item, pod.spec)
    else if (item.type === 'Pod')
      yield* constraintViolations(constraintsOf(item), {
        type: 'Pod',
        requests: podAmounts(pod, 'requests'),
        limits: podAmounts(pod, 'limits'),
      })
  }
}

function* containerViolations(item: DeepReadonly<LimitItem>, spec: DeepReadonly<PodSpec>): Generator<string> {
  const constraints = constraintsOf(item)
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
    yield* constraintViolations(constraints, {
      type: 'Container',
      requests: amountsOf(resources?.requests),
      limits: amountsOf(resources?.limits),
    })
}

type Constraint = readonly [name: string, bound: Quantity]

interface Constraints {
  readonly min: readonly Constraint[]
  readonly max: readonly Constraint[]
  readonly ratio: readonly Constraint[]
}

function constraintsOf({ min, max, maxLimitRequestRatio }: DeepReadonly<LimitItem>): Constraints {
  return { min: parseSorted(min), max: parseSorted(max), ratio: parseSorted(maxLimitRequestRatio) }
}

function parseSorted(bounds: DeepReadonly<ResourceAmounts> | undefined): Constraint[] {
  if (bounds === undefined) return []
  return Object.keys(bounds)
    .sort()
    .map((name) => [name, Quantity.parse(bounds[name] ?? '0')])
}

function* constraintViolations({ min, max, ratio }: Constraints, amounts: ConstrainedAmounts): Generator<string> {
  yield* each(min, (name, bound) => minConstraint(name, bound, amounts))
  yield* each(max, (name, bound) => maxConstraint(name, bound, amounts))
  yield* each(ratio, (name, bound) => limitRequestRatioConstraint(name, bound, amounts))
}

/** Only the requests of a claim are constrained, not its limits. */
function* claimViolations(item: DeepReadonly<LimitItem>, object: DeepReadonly<ApiObject>): Generator<string> {
  const { spec } = object as DeepReadonly<{ spec?: { resources?: { requests?: ResourceAmounts } } }>
  const requests = amountsOf(spec?.resources?.requests)
  const amounts = { type: 'PersistentVolumeClaim', requests, limits: new Map() }
  const { min, max } = constraintsOf(item)
  yield* each(min, (name, bound) => minConstraint(name, bound, amounts))
  yield* each(max, (name, bound) => {
    const request = requests.get(name)
    const text = `maximum ${name} usage per ${amounts.type} is ${bound}`
    if (request === undefined) return `${text}.  No request is specified`
    return request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined
  })
}

function* each(bounds: readonly Constraint[], check: (name: string, bound: Quantity) => string | undefined): Generator<string> {
  for (const [name, bound] of bounds) {
    const text = check(name, bound)
    if (text !== undefined) yield text
  }
}

function minConstraint(name: string, bound: Quantity, { type, requests, limits }: ConstrainedAmounts): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `minimum ${name} usage per ${type} is ${bound}`
  if (request === undefined) return `${text}.  No request is specified`
  if (request.compare(bound) < 0) return `${text}, but request is ${request}`
  return limit !== undefined && limit.compare(bound) < 0 ? `${text}, but limit is ${limit}` : undefined
}

function maxConstraint(name: string, bound: Quantity, { type, requests, limits }: ConstrainedAmounts): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `maximum ${name} usage per ${type} is ${bound}`
  if (limit === undefined) return `${text}.  No limit is specified`
  if (limit.compare(bound) > 0) return `${text}, but limit is ${limit}`
  return request !== undefined && request.compare(bound) > 0 ? `${text}, but request is ${request}` : undefined
}

function limitRequestRatioConstraint(
  name: string,
  bound: Quantity,
  { type, requests, limits }: ConstrainedAmounts,
): string | undefined {
  const [request, limit] = [requests.get(name), limits.get(name)]
  const text = `${name} max limit to request ratio per ${type} is ${bound}`
  if (request === undefined || request.isZero()) return `${text}, but no request is specified or request is 0`
  if (limit === undefined || limit.isZero()) return `${text}, but no limit is specified or limit is 0`
  const ratio = limit.approximate() / request.approximate()
  return ratio > bound.approximate() ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}
