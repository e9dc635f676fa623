import type { JsonObject, JsonValue } from '@krmkit/meta'

/** Returns an own member, never an inherited one. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
