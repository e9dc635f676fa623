import { printYaml, stringifyJson } from '@krmkit/schema'

/** Objects as text. */

export type ObjectForm = 'yaml' | 'json'

/** One object alone; several as documents of YAML, or as a list in JSON. */
export function printObjects(objects: readonly unknown[], form: ObjectForm): string {
  if (form === 'yaml') return objects.map(printYaml).join('---\n')
  const [only] = objects
  const whole = objects.length === 1 ? only : { apiVersion: 'v1', kind: 'List', metadata: {}, items: objects }
  return `${prettyJson(whole)}\n`
}

/** Indented; on one line when it holds integers that need it. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2)
  } catch (error) {
    if (error instanceof TypeError) return stringifyJson(value)
    throw error
  }
}
