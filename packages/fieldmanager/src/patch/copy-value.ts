import { memberNames, type Work } from '@krmkit/base/work'
import { type JsonValue, setMember } from '@krmkit/meta'
import { sortKeys } from '@krmkit/schema/paced'
import { FieldManagerError } from '../field-manager-error.ts'
import { maxObjectDepth } from '../typed/walk.ts'
import { stepSize } from '../value/keys.ts'

type Container = JsonValue[] | { [key: string]: JsonValue }

interface Part {
  readonly from: Container
  readonly to: Container
  readonly depth: number
}

/**
 * Returns a deep copy and the length of its JSON text.
 *
 * @param isSorted whether to sort the members of the copy.
 * @throws FieldManagerError `Unprocessable` for values nested deeper than the limit for objects.
 */
export function* copyValue(
  value: JsonValue,
  isSorted: (object: object) => boolean,
): Work<{ readonly copy: JsonValue; readonly length: number }> {
  const parts: Part[] = []
  let length = 0
  let members = 0
  const copyOf = (inner: JsonValue, depth: number): JsonValue => {
    if (typeof inner !== 'object' || inner === null) {
      length += textLength(inner)
      return inner
    }
    if (depth > maxObjectDepth) {
      throw new FieldManagerError({ code: 'Unprocessable', message: `the patch is nested deeper than ${maxObjectDepth} levels` })
    }
    const to: Container = Array.isArray(inner) ? [] : {}
    parts.push({ from: inner, to, depth })
    return to
  }
  const copy = copyOf(value, 0)
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { from, to, depth } = part
    const own = Array.isArray(from) ? undefined : memberNames(from)
    const keys = own !== undefined && isSorted(from) ? yield* sortKeys([...own]) : own
    const count = keys?.length ?? (from as JsonValue[]).length
    // Count the brackets and the commas between members.
    length += 2 + Math.max(0, count - 1)
    if (count > stepSize) yield true
    for (let i = 0; i < count; i++) {
      if (keys === undefined) (to as JsonValue[]).push(copyOf((from as JsonValue[])[i] as JsonValue, depth + 1))
      else {
        const key = keys[i] as string
        length += textLength(key) + 1
        setMember(
          to as { [key: string]: JsonValue },
          key,
          copyOf((from as { [key: string]: JsonValue })[key] as JsonValue, depth + 1),
        )
      }
      if (++members % stepSize === 0) yield
    }
  }
  return { copy, length }
}

/** Length of the JSON text of a scalar. */
function textLength(value: string | number | bigint | boolean | null): number {
  return typeof value === 'string' ? JSON.stringify(value).length : String(value).length
}
