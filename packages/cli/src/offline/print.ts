import { printYaml, stringifyJson } from '@krmkit/schema'

/** Formats objects as text. */

export type ObjectForm = 'yaml' | 'json'

/** Formats one object, several YAML documents, or a JSON List. */
export function printObjects(objects: readonly unknown[], form: ObjectForm): string {
  if (form === 'yaml') return objects.map(printYaml).join('---\n')
  const [only] = objects
  const document = objects.length === 1 ? only : { apiVersion: 'v1', kind: 'List', metadata: {}, items: objects }
  return `${prettyJson(document)}\n`
}

/** Formats indented JSON; a value with integers beyond the safe range is printed on one line. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2)
  } catch (error) {
    if (error instanceof TypeError) return stringifyJson(value)
    throw error
  }
}
