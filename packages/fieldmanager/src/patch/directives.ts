import type { JsonObject, JsonValue } from '@krmkit/meta'
import { setMember } from '../typed/types.ts'
import { show } from '../typed/validate.ts'
import { isMap } from '../value/order.ts'
import { PatchError } from './patch-error.ts'

/** Members of strategic merge patches that say how to merge instead of what. */
export const patchDirective = '$patch'
export const retainKeysDirective = '$retainKeys'
export const deleteFromPrimitiveListPrefix = '$deleteFromPrimitiveList'
export const setElementOrderPrefix = '$setElementOrder'

/** Name of the list that `$setElementOrder/ports` or `$deleteFromPrimitiveList/finalizers` is about. */
export function directiveTarget(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash < 0 || key.slice(0, slash) !== prefix) {
    const what = prefix === setElementOrderPrefix ? 'setElementOrder list' : 'primitive list'
    throw new PatchError('BadPatch', `invalid patch format of ${what}`)
  }
  return key.slice(slash + 1)
}

/** A part of a patch that meets nothing to merge with: without directives, nulls, and items that only delete. */
export function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((item) => !(isMap(item) && isSpecialItem(item))).map(withoutDirectives)
  if (!isMap(value)) return value
  const directive = Object.hasOwn(value, patchDirective) ? value[patchDirective] : undefined
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') throw unknownDirective(directive, value)
  const out: JsonObject = {}
  for (const key in value) {
    const member = value[key] as JsonValue
    if (member !== null && !isDirective(key)) setMember(out, key, withoutDirectives(member))
  }
  return out
}

export function unknownDirective(directive: JsonValue, map: JsonObject): PatchError {
  return new PatchError('BadPatch', `unknown patch type: ${show(directive)} in map: ${show(map)}`)
}

export function noMergeKey(map: JsonObject, mergeKey: string): PatchError {
  return new PatchError('BadPatch', `map: ${show(map)} does not contain declared merge key: ${mergeKey}`)
}

function isDirective(key: string): boolean {
  return (
    key === patchDirective ||
    key === retainKeysDirective ||
    key.startsWith(deleteFromPrimitiveListPrefix) ||
    key.startsWith(setElementOrderPrefix)
  )
}

/** An item that deletes, or that says no more than that the list is replaced. */
function isSpecialItem(item: JsonObject): boolean {
  if (!Object.hasOwn(item, patchDirective)) return false
  const directive = item[patchDirective] as JsonValue
  if (directive !== 'delete' && directive !== 'replace' && directive !== 'merge') throw unknownDirective(directive, item)
  return directive !== 'merge'
}
