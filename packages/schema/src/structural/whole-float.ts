import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { NumberLiteral } from '../json/syntax.ts'

/**
 * A number without a fraction that Go reads as a float, such as `1.0` in JSON. Only validation sees it: what is stored, and written as `1`,
 * is an integer from then on.
 */
export class WholeFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** The number of a `WholeFloat`; other values as they are. */
export function plainNumber<T>(value: T): T | number {
  return value instanceof WholeFloat ? value.value : value
}

/**
 * A view of a value for validation, in which floats that were sent are `WholeFloat`. Parts without them are shared.
 *
 * @param sent what was sent, parsed with literals. Items of lists may be members that are named by their index.
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
