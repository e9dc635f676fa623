// Derived from copy-members.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { manyMembers } from './copy-members.ts'

/** A mutable copy of a map. Large maps are copied in V8's dictionary mode, which takes a third of the time. */
export function copyMembers(object: JsonObject): JsonObject {
  const keys = memberNames(object)
  if (keys.length < manyMembers) return { ...object }

  const table = Object.create(null) as JsonObject
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    table[key] = object[key] as JsonValue
  }
  return Object.setPrototypeOf(table, Object.prototype) as JsonObject
}
