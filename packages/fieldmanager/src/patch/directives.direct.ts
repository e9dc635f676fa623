// Derived from directives.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { keysOf } from '../value/keys.ts'
import { patchDirective } from './directives.ts'
import { sortMembers } from './key-order.ts'

/**
 * A copy of a part of a patch that is added as a whole, without members that only remove something.
 *
 * @param drops `nulls`: drops null members at every level; a null value itself and null items are kept. `directives`: drops maps with
 * `$patch` at every level; other directives remain as unknown fields, as on kube-apiserver. `sorted`: sorts members.
 * @returns `undefined` when nothing remains.
 */
export function cleaned(
  value: JsonValue,
  drops: { readonly nulls: boolean; readonly directives: boolean; readonly sorted?: boolean },
): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: JsonValue[] = []
    for (let i = 0; i < value.length; i++) {
      const item = cleaned(value[i] as JsonValue, drops)
      if (item !== undefined) list.push(item)
    }
    return list
  }
  if (drops.directives && Object.hasOwn(value, patchDirective) && !(drops.nulls && value[patchDirective] === null))
    return undefined
  const out: JsonObject = {}
  const keys = runAtOnce(keysOf(value))
  const taken: string[] = []
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = value[key] as JsonValue

    if (member === null && drops.nulls) continue
    const kept = cleaned(member, drops)
    if (kept === undefined) continue
    setMember(out, key, kept)
    taken.push(key)
  }
  if (drops.sorted === true) {
    runAtOnce(sortMembers(out, taken))
    return out
  }

  return out
}
