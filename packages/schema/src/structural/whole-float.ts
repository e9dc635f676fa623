import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { NumberLiteral } from '../json/syntax.ts'

/**
 * A number without a fraction that Go reads as a float, such as `1.0` in JSON. Only validation distinguishes it: the stored
 * value is written as `1` and read back as an integer.
 *
 * @example
 * import { createSchemaValidator, WholeFloat } from '@krmkit/schema/structural'
 * const validate = createSchemaValidator({ multipleOf: 0.5 })
 * validate(new WholeFloat(3) as never) // []: the integer 3 would not be a multiple, because the factor is truncated
 */
export class WholeFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/**
 * Returns the number of a `WholeFloat`; other values unchanged.
 *
 * @example
 * import { plainNumber, WholeFloat } from '@krmkit/schema/structural'
 * plainNumber(new WholeFloat(3)) // 3
 */
export function plainNumber<T>(value: T): T | number {
  return value instanceof WholeFloat ? value.value : value
}

/**
 * Returns a view of a value for validation, in which numbers that were sent as floats are `WholeFloat`. Parts without such
 * numbers are shared.
 *
 * @param sent the sent value, parsed with literals. List items may also be given as members named by index.
 * @example
 * import { runAtOnce } from '@krmkit/base/work'
 * import { parseJson } from '@krmkit/schema'
 * import { withWholeFloats } from '@krmkit/schema/structural'
 * const sent = parseJson('{"a":1.0,"b":1}', { literals: true }).value
 * runAtOnce(withWholeFloats({ a: 1, b: 1 }, sent)) // { a: WholeFloat { value: 1 }, b: 1 }
 */
export function* withWholeFloats(value: JsonValue, sent: unknown): Work<JsonValue> {
  if (sent instanceof NumberLiteral) return value === sent.value ? (new WholeFloat(value) as unknown as JsonValue) : value
  if (typeof sent !== 'object' || sent === null) return value
  const parts = sent as Readonly<Record<string | number, unknown>>
  if (Array.isArray(value)) return yield* viewedItems(value, parts)
  return isJsonObject(value) ? yield* viewedMembers(value, parts) : value
}

/** Members handled between two pauses. */
const membersPerStep = 256

function* viewedItems(items: readonly JsonValue[], sent: Readonly<Record<number, unknown>>): Work<JsonValue> {
  let copy: JsonValue[] | undefined
  for (let i = 0; i < items.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    const item = items[i] as JsonValue
    const view = yield* withWholeFloats(item, sent[i])
    if (view === item) continue
    copy ??= [...items]
    copy[i] = view
  }
  return copy ?? (items as JsonValue)
}

function* viewedMembers(value: JsonObject, sent: Readonly<Record<string, unknown>>): Work<JsonValue> {
  const keys = memberNames(value)
  const views: JsonValue[] = []
  let isSame = true
  for (let i = 0; i < keys.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    const key = keys[i] as string
    const member = value[key] as JsonValue
    const view = Object.hasOwn(sent, key) ? yield* withWholeFloats(member, sent[key]) : member
    isSame &&= view === member
    views.push(view)
  }
  if (isSame) return value
  const copy: JsonObject = {}
  for (let i = 0; i < keys.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield true
    setMember(copy, keys[i] as string, views[i])
  }
  return copy
}
