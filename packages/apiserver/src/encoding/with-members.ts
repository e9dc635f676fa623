import { memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'

/** A copy of an object with the given members replaced. */
export function* withMembers(object: JsonObject, changes: JsonObject): Work<JsonObject> {
  const names = memberNames(object)
  if (names.length <= membersPerStep) return { ...object, ...changes }
  const copy: JsonObject = {}
  const set = (name: string, value: JsonValue) =>
    void Object.defineProperty(copy, name, { value, writable: true, enumerable: true, configurable: true })
  let count = 0
  for (const name of names) {
    set(name, object[name] as JsonValue)
    if (++count % membersPerStep === 0) yield
  }
  for (const [name, value] of Object.entries(changes)) set(name, value)
  rememberMemberNames(copy, [...names, ...Object.keys(changes).filter((name) => !Object.hasOwn(object, name))])
  return copy
}

/** Number of members copied between two yields. */
const membersPerStep = 128
