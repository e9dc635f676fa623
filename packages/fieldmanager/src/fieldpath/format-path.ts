import type { JsonValue } from '@krmkit/meta'
import { canonicalJson } from '../value/json.ts'
import { compareStrings, isMap } from '../value/order.ts'
import type { Path, PathElement } from './element.ts'
import { elementParts } from './element.ts'

/** Formats a path as conflicts and tools print it: `.spec.containers[name="app"].args`. */
export function pathText(path: Path): string {
  let text = ''
  for (const element of path) text += elementText(element)
  return text
}

/** Formats one element: `.spec`, `[name="app"]`, `[="x"]`, `[3]`. */
export function elementText(element: PathElement): string {
  const parts = elementParts(element)
  switch (parts.kind) {
    case 'field':
      return `.${parts.name}`
    case 'key':
      return `[${parts.fields.map((field) => `${field.name}=${valueText(field.value)}`).join(',')}]`
    case 'value':
      return `[=${valueText(parts.value)}]`
    default:
      return `[${parts.index}]`
  }
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`
  if (!isMap(value)) return canonicalJson(value)
  const keys = Object.keys(value).sort(compareStrings)
  return `{${keys.map((key) => `${key}=${valueText(value[key] as JsonValue)}`).join(';')}}`
}
