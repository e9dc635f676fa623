import { type DeepReadonly, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { type PathStep, readJsonPath } from '../strategies/shared/json-path-syntax.ts'

/** JSON paths of printer columns: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.spec['a\.b']`, `..name`. */

/** Returns the values at a path, in document order; none where kube-apiserver finds the path wrong for the object. */
export type JsonPath = (object: DeepReadonly<object>) => readonly JsonValue[]

const maxLength = 4096
/** Values that one evaluation visits: what it would find beyond them is not shown. */
const maxVisits = 50_000

/**
 * Compiles a path.
 *
 * @returns undefined for a malformed path.
 */
export function jsonPath(text: string): JsonPath | undefined {
  const steps = text.length > maxLength ? undefined : readJsonPath(text)
  return steps && ((object) => walk([object as JsonObject], steps, { left: maxVisits }) ?? [])
}

type Values = readonly JsonValue[]

interface Visits {
  left: number
}

/** @returns undefined where a step does not fit its values, or after too many visits. */
function walk(values: Values, steps: readonly PathStep[], visits: Visits): Values | undefined {
  let at: Values | undefined = values
  for (const step of steps) {
    at = walkStep(at, step, visits)
    if (at === undefined) return undefined
    visits.left -= at.length + 1
    if (visits.left < 0) return undefined
  }
  return at
}

function walkStep(values: Values, step: PathStep, visits: Visits): Values | undefined {
  switch (step.kind) {
    case 'field':
      return values.flatMap((value) =>
        isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as JsonValue] : [],
      )
    case 'wildcard':
      return allChildren(values, visits)
    case 'recursive':
      return containers(values, visits)
    case 'items':
      return itemsOf(values, step, visits)
    case 'filter':
      return filtered(values, step, visits)
    case 'union':
      return joined(step.parts.map((part) => walk(values, part, visits)))
    case 'constant':
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    case 'word':
      return undefined
  }
}

function joined(parts: readonly (Values | undefined)[]): Values | undefined {
  return parts.includes(undefined) ? undefined : (parts as Values[]).flat()
}

function children(value: JsonValue): Values {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? (Object.values(value) as Values) : []
}

function allChildren(values: Values, visits: Visits): Values | undefined {
  const found: JsonValue[] = []
  for (const value of values) {
    const inside = children(value)
    visits.left -= inside.length
    if (visits.left < 0) return undefined
    for (const child of inside) found.push(child)
  }
  return found
}

/** The values that contain others, each before those in it. */
function containers(values: Values, visits: Visits): Values | undefined {
  const found: JsonValue[] = []
  const rest = values.toReversed()
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (--visits.left < 0) return undefined
    const inside = children(value)
    if (inside.length === 0) continue
    found.push(value)
    for (let i = inside.length - 1; i >= 0; i--) rest.push(inside[i] as JsonValue)
  }
  return found
}

function itemsOf(
  values: Values,
  { from, to, step, one }: PathStep & { readonly kind: 'items' },
  visits: Visits,
): Values | undefined {
  const found: JsonValue[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) return undefined
    const { length } = value
    const start = from < 0 ? from + length : from
    const end = to === undefined ? length : to < 0 || (to === 0 && one) ? to + length : to
    if (start === end) return found
    if (start < 0 || start >= length || end < start || end > length || step <= 0) return undefined
    visits.left -= Math.ceil((end - start) / step)
    if (visits.left < 0) return undefined
    for (let i = start; i < end; i += step) found.push(value[i] as JsonValue)
  }
  return found
}

function filtered(values: Values, step: PathStep & { readonly kind: 'filter' }, visits: Visits): Values | undefined {
  const found: JsonValue[] = []
  for (const value of values) {
    if (!Array.isArray(value)) return undefined
    for (const item of value as Values) {
      const holds = itemHolds(item, step, visits)
      if (holds === undefined || visits.left < 0) return undefined
      if (holds) found.push(item)
    }
  }
  return found
}

/** @returns undefined for what cannot be compared */
function itemHolds(
  item: JsonValue,
  { left, operator, right = [] }: PathStep & { readonly kind: 'filter' },
  visits: Visits,
): boolean | undefined {
  const found = walk([item], left, visits)
  // A path that does not fit counts as one that exists.
  if (operator === undefined) return found === undefined || found.length > 0
  if (found === undefined || found.length === 0) return found && false
  const wanted = walk([item], right, visits)
  if (wanted === undefined || wanted.length === 0) return wanted && false
  return found.length > 1 || wanted.length > 1 ? undefined : compare(found[0] as JsonValue, operator, wanted[0] as JsonValue)
}

function compare(left: JsonValue, operator: string, right: JsonValue): boolean | undefined {
  const kind = comparedKind(left)
  if (kind === undefined || kind !== comparedKind(right)) return undefined
  if (operator === '==') return left === right
  if (operator === '!=') return left !== right
  if (kind === 'boolean') return undefined
  const [a, b] = [left as number | string, right as number | string]
  if (operator === '>') return a > b
  if (operator === '<') return a < b
  if (operator === '>=') return a >= b
  return operator === '<=' ? a <= b : undefined
}

/** Whole numbers and others are not compared, as in Go. */
function comparedKind(value: JsonValue): string | undefined {
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined
}
