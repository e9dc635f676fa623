import { memberNames } from '@krmkit/base/work'
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { unknownProblems } from '@krmkit/schema/json'

const operationMembers: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/**
 * Reports the first hundred unknown members of operations, for strict and warning field validation.
 *
 * @example
 * ```ts
 * import { validateJsonPatch } from '@krmkit/fieldmanager/patch'
 *
 * validateJsonPatch([{ op: 'remove', path: '/spec/paused', force: true }]) // ['json patch unknown field "[0].force"']
 * ```
 */
export function validateJsonPatch(operations: JsonValue): string[] {
  if (!Array.isArray(operations)) return []
  return unknownProblems(unknownMembers(operations)).map((problem) => `json patch ${problem}`)
}

function* unknownMembers(operations: readonly JsonValue[]): Generator<string> {
  for (let i = 0; i < operations.length; i++) {
    const operation = operations[i] as JsonValue
    if (!isJsonObject(operation)) continue
    for (const name of memberNames(operation)) if (!operationMembers.has(name)) yield `[${i}].${name}`
  }
}
