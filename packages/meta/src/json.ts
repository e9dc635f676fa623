import type { JsonObject } from './interfaces.ts'

/**
 * Whether a JSON value is an object, not a list or null.
 *
 * @example
 * ```ts
 * import { isJsonObject } from '@krmkit/meta'
 *
 * const body: unknown = JSON.parse('{"kind": "Pod"}')
 * if (isJsonObject(body)) console.log(body.kind)
 * ```
 */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
