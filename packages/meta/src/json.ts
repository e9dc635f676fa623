import type { JsonObject } from './interfaces.ts'

/**
 * Whether a JSON value is an object, not a list or null.
 *
 * @example
 * ```ts
 * const body: unknown = JSON.parse(text)
 * if (isJsonObject(body)) console.log(body.kind)
 * ```
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
