import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { NumberLiteral } from '../json/syntax.ts'

/**
 * A number without a fraction that Go reads as a float, such as `1.0` in JSON. Only validation sees it: what is stored, and written as `1`,
 * is an integer from then on.
 *
 * @example
 * import { createSchemaValidator, WholeFloat } from '@krmkit/schema/structural'
 * const validate = createSchemaValidator({ multipleOf: 0.5 })
 * validate(new WholeFloat(3) as never) // []: the integer 3 is no multiple, as its factor has lost its fraction
 */
export class WholeFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/**
 * The number of a `WholeFloat`; other values as they are.
 *
 * @example
 * import { plainNumber, WholeFloat } from '@krmkit/schema/structural'
 * plainNumber(new WholeFloat(3)) // 3
 */
export function plainNumber<T>(value: T): T | number {
  return value instanceof WholeFloat ? value.value : value
}

/**
 * A view of a value for validation, in which floats that were sent are `WholeFloat`. Parts without them are shared.
 *
 * @param sent what was sent, parsed with literals. Items of lists may be members that are named by their index.
 * @example
 * import { parseJson } from '@krmkit/schema'
 * import { withWholeFloats } from '@krmkit/schema/structural'
 * const sent = parseJson('{"a":1.0,"b":1}', { literals: true }).value
 * withWholeFloats({ a: 1, b: 1 }, sent) // { a: WholeFloat { value: 1 }, b: 1 }
 */
export function withWholeFloats(value: JsonValue, sent: unknown): JsonValue {
  if (sent instanceof NumberLiteral) return value === sent.value ? (new WholeFloat(value) as unknown as JsonValue) : value
  if (typeof sent !== 'object' || sent === null) return value
  if (!Array.isArray(value) && !isJsonObject(value)) return value
  const members = value as Record<string, JsonValue>
  let copy: Record<string, JsonValue> | undefined
  for (const [key, part] of Object.entries(sent)) {
    if (!Object.hasOwn(members, key)) continue
    const member = members[key] as JsonValue
    const viewed = withWholeFloats(member, part)
    if (viewed === member) continue
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, JsonValue>
    setMember(copy, key, viewed)
  }
  return (copy as JsonValue | undefined) ?? value
}
