import type { JsonValue } from '@krmkit/meta'

/** The name of a JSON type in decoder messages. */
export function jsonKind(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return 'number'
    default:
      return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object'
  }
}

/** A deep copy. */
export function cloneValue(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneValue)
  const out: { [key: string]: JsonValue } = {}
  for (const key in value) {
    const copy = cloneValue(value[key] as JsonValue)
    if (key === '__proto__')
      Object.defineProperty(out, key, { value: copy, enumerable: true, configurable: true, writable: true })
    else out[key] = copy
  }
  return out
}
