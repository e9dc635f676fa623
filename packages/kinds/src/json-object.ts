import type { JsonObject } from '@krmkit/meta'

/** Whether a JSON value is an object, not a list or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
