import { memberNames, sort, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { NumberLiteral } from '@krmkit/schema/json'
import { stringifyJson } from '@krmkit/schema/paced'

/** The key order of maps after kube-apiserver has converted YAML to JSON. */

/** Number of map members visited between two yields. */
const membersPerStep = 256

/**
 * A copy of a value with the keys of every map sorted.
 *
 * @param ofLiteral returns the replacement of a number literal
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
 * Converts a YAML value to the JSON that kube-apiserver converts it to.
 *
 * `{ b: 1.50, a: '<' }` becomes `{"a":"\u003c","b":1.5}`.
 */
export function* convertedJson(value: unknown): Work<string> {
  return yield* stringifyJson(yield* inKeyOrder(value, plainNumber))
}

function plainNumber({ text, value }: NumberLiteral): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : value
}
