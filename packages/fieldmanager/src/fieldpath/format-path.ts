import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { canonicalJson } from '../value/json.ts'
import { elementParts, type FieldPath, type PathElement } from './element.ts'

/**
 * Formats a path as conflicts and tools print it: `.spec.containers[name="app"].args`.
 *
 * @example
 * ```ts
 * import { formatPath } from '@krmkit/fieldmanager/fieldpath'
 *
 * formatPath(['f:spec', 'f:containers', 'k:{"name":"app"}', 'f:args']) // '.spec.containers[name="app"].args'
 * ```
 */
export function formatPath(path: FieldPath): string {
  let text = ''
  for (const element of path) text += formatElement(element)
  return text
}

/**
 * Formats one element: `.spec`, `[name="app"]`, `[="x"]`, `[3]`.
 *
 * @example
 * ```ts
 * import { formatElement } from '@krmkit/fieldmanager/fieldpath'
 *
 * formatElement('k:{"name":"app"}') // '[name="app"]'
 * ```
 */
export function formatElement(element: PathElement): string {
  const parts = elementParts(element)
  switch (parts.kind) {
    case 'field':
      return `.${parts.name}`
    case 'key':
      return `[${parts.fields.map((field) => `${field.name}=${formatValue(field.value)}`).join(',')}]`
    case 'value':
      return `[=${formatValue(parts.value)}]`
    default:
      return `[${parts.index}]`
  }
}

function formatValue(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(formatValue).join(',')}]`
  if (!isJsonObject(value)) return canonicalJson(value)
  const keys = Object.keys(value).sort(compareCodePoints)
  return `{${keys.map((key) => `${key}=${formatValue(value[key] as JsonValue)}`).join(';')}}`
}
