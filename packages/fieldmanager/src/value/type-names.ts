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

export const goList = '[]interface {}'
export const goMap = 'map[string]interface {}'

/** The name of a value's Go type after JSON decoding. */
export function goType(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    default:
      return value === null ? '%!s(<nil>)' : Array.isArray(value) ? goList : goMap
  }
}
