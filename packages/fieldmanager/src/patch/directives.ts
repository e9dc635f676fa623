import { rememberMemberNames, type Work } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { formatForError } from '../typed/validate.ts'
import { keysOf, stepSize } from '../value/keys.ts'
import { goType } from '../value/type-names.ts'
import { sortMembers } from './key-order.ts'

/** Directives of strategic merge patches. */
export const patchDirective = '$patch'
export const retainKeysDirective = '$retainKeys'
export const deleteFromPrimitiveListPrefix = '$deleteFromPrimitiveList'
export const setElementOrderPrefix = '$setElementOrder'

/** The list that a key such as `$setElementOrder/ports` or `$deleteFromPrimitiveList/finalizers` refers to. */
export function directiveTarget(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash < 0 || key.slice(0, slash) !== prefix) {
    const what = prefix === setElementOrderPrefix ? 'setElementOrder list' : 'primitive list'
    throw new FieldManagerError({ code: 'BadPatch', message: `invalid patch format of ${what}` })
  }
  return key.slice(slash + 1)
}

/**
 * A copy of a part of a patch that is added as a whole, without members that only remove something.
 *
 * @param drops `nulls`: drops null members at every level; a null value itself and null items are kept. `directives`: drops maps with
 * `$patch` at every level; other directives remain as unknown fields, as on kube-apiserver. `sorted`: sorts members.
 * @returns `undefined` when nothing remains.
 */
export function* cleaned(
  value: JsonValue,
  drops: { readonly nulls: boolean; readonly directives: boolean; readonly sorted?: boolean },
): Work<JsonValue | undefined> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: JsonValue[] = []
    for (let i = 0; i < value.length; i++) {
      const item = yield* cleaned(value[i] as JsonValue, drops)
      if (item !== undefined) list.push(item)
      if (i % stepSize === 0) yield
    }
    return list
  }
  if (drops.directives && Object.hasOwn(value, patchDirective) && !(drops.nulls && value[patchDirective] === null))
    return undefined
  const out: JsonObject = {}
  const keys = yield* keysOf(value)
  const taken: string[] = []
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = value[key] as JsonValue
    if (i % stepSize === stepSize - 1) yield
    if (member === null && drops.nulls) continue
    const kept = yield* cleaned(member, drops)
    if (kept === undefined) continue
    setMember(out, key, kept)
    taken.push(key)
  }
  if (drops.sorted === true) {
    yield* sortMembers(out, taken)
    return out
  }
  rememberMemberNames(out, taken)
  return out
}

export function unknownDirective(directive: JsonValue, map: JsonObject): FieldManagerError {
  return new FieldManagerError({
    code: 'BadPatch',
    message: `unknown patch type: ${formatForError(directive)} in map: ${formatForError(map)}`,
  })
}

export function noMergeKey(map: JsonObject, mergeKey: string): FieldManagerError {
  return new FieldManagerError({
    code: 'BadPatch',
    message: `map: ${formatForError(map)} does not contain declared merge key: ${mergeKey}`,
  })
}

/** @param expected `[]interface {}` or `map[string]interface {}` */
export function unexpectedType(expected: string, value: JsonValue): FieldManagerError {
  return new FieldManagerError({ code: 'BadPatch', message: `expected a ${expected}, but received a ${goType(value)}` })
}
