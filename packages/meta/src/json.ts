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

/**
 * Sets a member whose name is external input. A plain assignment to `__proto__` would set the prototype.
 *
 * @example
 * import { setMember } from '@krmkit/meta'
 * const labels = {}
 * setMember(labels, '__proto__', 'x')
 * Object.keys(labels) // [ '__proto__' ]
 */
export function setMember(object: Record<string | number, unknown>, name: string | number, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  else object[name] = value
}
