import { setMember } from '@krmkit/meta'
import { memberNames, sort, type Work } from '@krmkit/meta/work'
import { NumberLiteral } from '@krmkit/schema/json'
import { stringifyJson } from '@krmkit/schema/paced'

/** The order that maps have after kube-apiserver has converted YAML to JSON. */

/** Members of a map between pauses. */
const membersPerStep = 256

/**
 * A copy of a value with the keys of every map in their order.
 *
 * @param ofLiteral what replaces a literal of a number
 */
export function* inKeyOrder(
  value: unknown,
  ofLiteral: (literal: NumberLiteral) => unknown = (literal) => literal,
): Work<unknown> {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof NumberLiteral) return ofLiteral(value)
  let count = 0
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      items.push(yield* inKeyOrder(item, ofLiteral))
      if (++count % membersPerStep === 0) yield
    }
    return items
  }
  const ordered: Record<string, unknown> = {}
  for (const name of yield* sort([...memberNames(value)])) {
    setMember(ordered, name, yield* inKeyOrder((value as Record<string, unknown>)[name], ofLiteral))
    if (++count % membersPerStep === 0) yield
  }
  yield
  return ordered
}

/**
 * A value of YAML as the JSON that kube-apiserver converts it to.
 *
 * `{ b: 1.50, a: '<' }` becomes `{"a":"\u003c","b":1.5}`.
 */
export function* convertedJson(value: unknown): Work<string> {
  return yield* stringifyJson(yield* inKeyOrder(value, plainNumber))
}

function plainNumber({ text, value }: NumberLiteral): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : value
}
