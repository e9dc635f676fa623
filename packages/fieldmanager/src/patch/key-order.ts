import { rememberMemberNames, type Work } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { sortKeys } from '@krmkit/schema/paced'
import { stepSize } from '../value/keys.ts'

/**
 * Sorts the members of an object by key, in place, in the order in which Go encodes maps.
 *
 * @param keys all keys, in any order.
 */
export function* sortMembers(object: JsonObject, keys: readonly string[]): Work {
  if (keys.length > stepSize) yield true
  if (keys.every((key, i) => i === 0 || follows(keys[i - 1] as string, key))) {
    rememberMemberNames(object, keys)
    return
  }
  const sorted = yield* sortKeys([...keys])
  const values: JsonValue[] = []
  for (let i = 0; i < sorted.length; i++) {
    values.push(object[sorted[i] as string] as JsonValue)
    if (i % stepSize === 0) yield
  }
  for (let i = 0; i < keys.length; i++) {
    delete object[keys[i] as string]
    if (i % stepSize === 0) yield
  }
  for (let i = 0; i < sorted.length; i++) {
    setMember(object, sorted[i] as string, values[i] as JsonValue)
    if (i % stepSize === 0) yield
  }
  rememberMemberNames(object, sorted)
}

/** Whether a key certainly sorts after the previous one; false when a slower comparison is needed. */
function follows(previous: string, key: string): boolean {
  return previous < key && !wideCharacters.test(key)
}

/** Characters whose order differs between UTF-16 and UTF-8. */
const wideCharacters = /[\ud800-\uffff]/
