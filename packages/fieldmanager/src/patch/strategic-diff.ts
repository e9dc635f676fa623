import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import { ownMember, setMember } from '../typed/types.ts'
import { compareStrings, equalValues, isMap } from '../value/order.ts'
import {
  deleteFromPrimitiveListPrefix,
  noMergeKey,
  patchDirective,
  retainKeysDirective,
  setElementOrderPrefix,
} from './directives.ts'
import { identityOf } from './element-order.ts'
import { jsonKind } from './json-kind.ts'
import { PatchError } from './patch-error.ts'
import { type PatchMeta, type PatchType, patchMetaOf, patchTypeOf } from './patch-meta.ts'
import { elementKind } from './strategic-lists.ts'
import { mergeStrategic } from './strategic-merge.ts'

interface DiffOptions {
  readonly ignoreChangesAndAdditions?: boolean
  readonly ignoreDeletions?: boolean
  readonly setElementOrder?: boolean
  /** The map under comparison is replaced as to its members. */
  readonly retainKeys?: boolean
}

/** The strategic merge patch that makes `modified` of `original`. */
export function createTwoWayPatch(type: StructType, original: JsonObject, modified: JsonObject): JsonObject {
  return diffMaps(original, modified, patchTypeOf(type), { setElementOrder: true })
}

export interface ThreeWayOptions {
  /** Changes what somebody else changed since; otherwise that is a conflict. True by default. */
  readonly overwrite?: boolean
}

/**
 * The strategic merge patch of client-side apply: deletes what `original` (last applied) had and `modified` (wanted) has
 * not, and sets what `current` (live) has otherwise than `modified`; everything else of `current` is left alone.
 *
 * @throws PatchError `Conflict` without `overwrite`, when a change of the patch is also changed in `current`.
 */
export function createThreeWayPatch(
  type: StructType,
  { original, modified, current }: { original: JsonObject; modified: JsonObject; current: JsonObject },
  options: ThreeWayOptions = {},
): JsonObject {
  const root = patchTypeOf(type)
  const delta = diffMaps(current, modified, root, { ignoreDeletions: true, setElementOrder: true })
  const deletions = diffMaps(original, modified, root, { ignoreChangesAndAdditions: true, setElementOrder: true })
  const patch = mergeStrategic(deletions, delta, root, { ofPatches: true })
  if (options.overwrite === false) {
    const changed = diffMaps(original, current, root, {})
    if (haveConflicts(patch, changed, root)) {
      throw new PatchError('Conflict', 'the patch changes what has been changed since it was last applied')
    }
  }
  return patch
}

function diffMaps(original: JsonObject, modified: JsonObject, type: PatchType, options: DiffOptions): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(modified)) {
    const after = modified[key] as JsonValue
    const before = ownMember(original, key)
    if (before === undefined) {
      if (!options.ignoreChangesAndAdditions) setMember(patch, key, after)
    } else if (key === patchDirective) {
      if (before !== after) patch[key] = after
    } else if (isMap(before) && isMap(after)) diffMember(patch, key, before, after, type, options)
    else if (Array.isArray(before) && Array.isArray(after)) diffList(patch, key, before, after, type, options)
    else if (!options.ignoreChangesAndAdditions && !equalValues(before, after)) setMember(patch, key, after)
  }
  const gone = Object.keys(original).filter((key) => ownMember(modified, key) === undefined)
  if (!options.ignoreDeletions) for (const key of gone) setMember(patch, key, null)
  const kept = options.retainKeys ? Object.keys(modified).filter((key) => modified[key] !== null) : []
  if (kept.length > 0 && (Object.keys(patch).length > 0 || gone.length > 0))
    patch[retainKeysDirective] = kept.sort(compareStrings)
  return patch
}

function diffMember(
  patch: JsonObject,
  key: string,
  before: JsonObject,
  after: JsonObject,
  type: PatchType,
  options: DiffOptions,
): void {
  if (equalValues(before, after)) return
  const meta = patchMetaOf(type, key, 'object')
  if (meta.strategy === 'replace') {
    if (!options.ignoreChangesAndAdditions) setMember(patch, key, after)
    return
  }
  const below = diffMaps(before, after, meta.type, { ...options, retainKeys: meta.retainKeys })
  if (Object.keys(below).length > 0) setMember(patch, key, below)
}

function diffList(
  patch: JsonObject,
  key: string,
  before: JsonValue[],
  after: JsonValue[],
  type: PatchType,
  options: DiffOptions,
): void {
  if (equalValues(before, after)) return
  const meta = patchMetaOf(type, key, 'array')
  if (meta.strategy !== 'merge') {
    if (!options.ignoreChangesAndAdditions) setMember(patch, key, after)
    return
  }
  if (before.length === 0) {
    if (after.length > 0 && !options.ignoreChangesAndAdditions) setMember(patch, key, after)
    return
  }
  const inner = { ...options, retainKeys: meta.retainKeys }
  if (elementKind([before, after]) === 'object') diffItems(patch, key, before as JsonObject[], after as JsonObject[], meta, inner)
  else diffScalars(patch, key, before, after, inner)
}

function diffScalars(patch: JsonObject, key: string, before: JsonValue[], after: JsonValue[], options: DiffOptions): void {
  const old = new Set(before)
  const now = new Set(after)
  const added = options.ignoreChangesAndAdditions ? [] : after.filter((item) => !old.has(item))
  const deleted = options.ignoreDeletions ? [] : [...old].filter((item) => !now.has(item)).sort(byText)
  if (added.length > 0) setMember(patch, key, added)
  if (deleted.length > 0) patch[`${deleteFromPrimitiveListPrefix}/${key}`] = deleted
  const changed = !options.ignoreChangesAndAdditions && !equalValues(before, after)
  if (options.setElementOrder && after.length > 0 && (deleted.length > 0 || changed))
    patch[`${setElementOrderPrefix}/${key}`] = after
}

function diffItems(
  patch: JsonObject,
  key: string,
  before: JsonObject[],
  after: JsonObject[],
  meta: PatchMeta,
  options: DiffOptions,
): void {
  const { mergeKey } = meta
  for (const item of [...before, ...after]) if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
  const old = byIdentity(before, mergeKey)
  const now = byIdentity(after, mergeKey)
  const changes: JsonObject[] = []
  for (const item of after) {
    const identity = item[mergeKey] as JsonValue
    const own = old.get(identity)
    if (own === undefined) {
      if (!options.ignoreChangesAndAdditions) changes.push(item)
      continue
    }
    const below = diffMaps(own, item, meta.type, options)
    if (Object.keys(below).length > 0) changes.push({ ...below, [mergeKey]: identity })
  }
  if (!options.ignoreDeletions) {
    const gone = before.filter((item) => !now.has(item[mergeKey] as JsonValue)).sort((a, b) => byText(a[mergeKey], b[mergeKey]))
    for (const item of gone) changes.push({ [patchDirective]: 'delete', [mergeKey]: item[mergeKey] as JsonValue })
  }
  if (changes.length > 0) setMember(patch, key, changes)
  const moved = before.length !== after.length || before.some((item, i) => item[mergeKey] !== after[i]?.[mergeKey])
  const needed =
    (!options.ignoreChangesAndAdditions && (changes.length > 0 || moved)) || (!options.ignoreDeletions && changes.length > 0)
  if (options.setElementOrder && needed && after.length > 0) {
    patch[`${setElementOrderPrefix}/${key}`] = after.map((item) => ({ [mergeKey]: item[mergeKey] as JsonValue }))
  }
}

function byIdentity(items: readonly JsonObject[], mergeKey: string): Map<JsonValue, JsonObject> {
  const out = new Map<JsonValue, JsonObject>()
  for (const item of items) {
    const identity = identityOf(item, mergeKey) as JsonValue
    if (!out.has(identity)) out.set(identity, item)
  }
  return out
}

function byText(a: JsonValue | undefined, b: JsonValue | undefined): number {
  return compareStrings(String(a), String(b))
}

/** True when both patches change the same thing to different values. */
function haveConflicts(left: JsonValue, right: JsonValue, type: PatchType, meta?: PatchMeta): boolean {
  if (isMap(left)) {
    if (!isMap(right) || left[patchDirective] !== right[patchDirective]) return true
    if (meta?.strategy === 'replace') return false
    return Object.keys(left).some((key) => {
      const other = ownMember(right, key)
      return !key.startsWith('$') && other !== undefined && memberConflicts(left[key] as JsonValue, other, key, type)
    })
  }
  if (Array.isArray(left)) return !Array.isArray(right) || listConflicts(left, right, type, meta)
  return !equalValues(left, right)
}

function memberConflicts(left: JsonValue, right: JsonValue, key: string, type: PatchType): boolean {
  if (jsonKind(left) !== jsonKind(right)) return true
  if (typeof left !== 'object' || left === null) return !equalValues(left, right)
  const meta = patchMetaOf(type, key, Array.isArray(left) ? 'array' : 'object')
  return haveConflicts(left, right, meta.type, meta)
}

function listConflicts(left: JsonValue[], right: JsonValue[], type: PatchType, meta: PatchMeta | undefined): boolean {
  if (meta?.strategy === 'merge') {
    if (elementKind([left, right]) !== 'object') return false
    const others = byIdentity(right as JsonObject[], meta.mergeKey)
    return (left as JsonObject[]).some((item) => {
      const other = others.get(identityOf(item, meta.mergeKey) as JsonValue)
      return other !== undefined && haveConflicts(item, other, type)
    })
  }
  return !equalValues(left, right)
}
