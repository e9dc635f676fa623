import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import type { StructType } from '@krmkit/schema'
import { requireObjects, requireOptions, requireStructType } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import { ownMember } from '../typed/types.ts'
import { equalValues } from '../value/equal.direct.ts'
import { jsonKind } from '../value/type-names.ts'
import { deleteFromPrimitiveListPrefix, patchDirective, retainKeysDirective, setElementOrderPrefix } from './directives.ts'
import { identityOf, requireKeys } from './element-order.ts'
import { type PatchMeta, type PatchType, patchMetaOf, patchTypeOf } from './patch-meta.ts'
import { elementKind } from './strategic-lists.ts'
import { mergeStrategic } from './strategic-merge.direct.ts'

interface DiffOptions {
  readonly ignoreChangesAndAdditions?: boolean
  readonly ignoreDeletions?: boolean
  readonly setElementOrder?: boolean
  /** Whether the patch strategy of the field is `retainKeys`. */
  readonly retainKeys?: boolean
}

/**
 * Creates the strategic merge patch from `original` to `modified`.
 *
 * @example
 * ```ts
 * import { createTwoWayPatch } from '@krmkit/fieldmanager'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const type = builtInTypes().struct('core/v1.ConfigMap')
 * const original = { data: { color: 'blue', size: 'L' } }
 * createTwoWayPatch(type, original, { data: { color: 'red' } }) // { data: { color: 'red', size: null } }
 * ```
 */
export function createTwoWayPatch(type: StructType, original: JsonObject, modified: JsonObject): JsonObject {
  requireStructType('createTwoWayPatch', type)
  requireObjects('createTwoWayPatch', { original, modified })
  return diffMaps(original, modified, patchTypeOf(type), { setElementOrder: true })
}

export interface ThreeWayOptions {
  /** Whether to overwrite concurrent changes instead of failing with a conflict. Default true. */
  readonly overwrite?: boolean
}

/**
 * Creates the strategic merge patch of client-side apply: deletes fields of `original` (last applied) that `modified` (wanted) lacks, and
 * sets fields of `modified` that differ in `current` (live). Other fields of `current` are not changed.
 *
 * @throws FieldManagerError `Conflict` with `overwrite: false`, when `current` also changes what the patch changes.
 * @example
 * ```ts
 * import { createThreeWayPatch } from '@krmkit/fieldmanager'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const type = builtInTypes().struct('core/v1.ConfigMap')
 * const original = { data: { color: 'blue', size: 'L' } }
 * const current = { data: { ...original.data, owner: 'jane' } }
 * createThreeWayPatch(type, { original, modified: { data: { color: 'red' } }, current }) // { data: { color: 'red', size: null } }
 * ```
 */
export function createThreeWayPatch(
  type: StructType,
  objects: { original: JsonObject; modified: JsonObject; current: JsonObject },
  options: ThreeWayOptions = {},
): JsonObject {
  requireStructType('createThreeWayPatch', type)
  const { original, modified, current } = requireStates('createThreeWayPatch', objects, options)
  const root = patchTypeOf(type)
  const delta = diffMaps(current, modified, root, { ignoreDeletions: true, setElementOrder: true })
  const deletions = diffMaps(original, modified, root, { ignoreChangesAndAdditions: true, setElementOrder: true })
  const patch = mergeStrategic(deletions, delta, root, { ofPatches: true })
  if (options.overwrite === false) {
    const changed = diffMaps(original, current, root, {})
    if (haveConflicts(patch, changed, root)) {
      throw new FieldManagerError({
        code: 'Conflict',
        message: 'the patch changes a field that has been changed since it was last applied',
      })
    }
  }
  return patch
}

interface ThreeStates {
  readonly original: JsonObject
  readonly modified: JsonObject
  readonly current: JsonObject
}

/** @throws FieldManagerError `InvalidArgument` */
export function requireStates(call: string, objects: ThreeStates, options: ThreeWayOptions): ThreeStates {
  requireOptions(call, objects, { original: 'any', modified: 'any', current: 'any' })
  const { original, modified, current } = objects
  requireObjects(call, { original, modified, current })
  requireOptions(call, options, { overwrite: 'flag' })
  return objects
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
    } else if (isJsonObject(before) && isJsonObject(after)) diffMember(patch, key, { before, after, type, options })
    else if (Array.isArray(before) && Array.isArray(after)) diffList(patch, key, { before, after, type, options })
    else if (!options.ignoreChangesAndAdditions && !equalValues(before, after)) setMember(patch, key, after)
  }
  const gone = Object.keys(original).filter((key) => ownMember(modified, key) === undefined)
  if (!options.ignoreDeletions) for (const key of gone) setMember(patch, key, null)
  const kept = options.retainKeys ? Object.keys(modified).filter((key) => modified[key] !== null) : []
  if (kept.length > 0 && (Object.keys(patch).length > 0 || gone.some((key) => original[key] !== null)))
    patch[retainKeysDirective] = kept.sort(compareCodePoints)
  return patch
}

interface MemberDiff<T> {
  readonly before: T
  readonly after: T
  readonly type: PatchType
  readonly options: DiffOptions
}

function diffMember(patch: JsonObject, key: string, { before, after, type, options }: MemberDiff<JsonObject>): void {
  const meta = metaUnlessEqual(type, key, 'object', () => equalValues(before, after))
  if (meta === undefined) return
  if (meta.strategy === 'replace') {
    if (!options.ignoreChangesAndAdditions) setMember(patch, key, after)
    return
  }
  const below = diffMaps(before, after, meta.type, { ...options, retainKeys: meta.retainKeys })
  if (Object.keys(below).length > 0) setMember(patch, key, below)
}

/** The patch metadata of a field; `undefined` when the field is unknown and both values are equal. */
function metaUnlessEqual(type: PatchType, key: string, what: 'object' | 'array', equal: () => boolean): PatchMeta | undefined {
  try {
    return patchMetaOf(type, key, what)
  } catch (error) {
    if (error instanceof FieldManagerError && equal()) return undefined
    throw error
  }
}

function diffList(patch: JsonObject, key: string, { before, after, type, options }: MemberDiff<JsonValue[]>): void {
  const meta = metaUnlessEqual(type, key, 'array', () => equalValues(before, after))
  if (meta === undefined) return
  if (meta.strategy !== 'merge') {
    if (!options.ignoreChangesAndAdditions && !equalValues(before, after)) setMember(patch, key, after)
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
  const old = [...before].sort(byText)
  const added: JsonValue[] = []
  const deleted = new Set<JsonValue>()
  walkSorted(old, [...after].sort(byText), String, {
    onlyOld: (item) => void deleted.add(item),
    onlyNew: (item) => void added.push(item),
    both: () => undefined,
  })
  const position = firstPositions(after)
  const additions = options.ignoreChangesAndAdditions
    ? []
    : added.sort((a, b) => (position.get(a) as number) - (position.get(b) as number))
  const deletions = options.ignoreDeletions ? [] : [...deleted]
  if (additions.length > 0) setMember(patch, key, additions)
  if (deletions.length > 0) patch[`${deleteFromPrimitiveListPrefix}/${key}`] = deletions
  // As on kube-apiserver, the sorted list is compared, so an order may be set although nothing moved.
  const moved = !options.ignoreChangesAndAdditions && !equalValues(old, after)
  if (options.setElementOrder && after.length > 0 && (deletions.length > 0 || moved))
    patch[`${setElementOrderPrefix}/${key}`] = after
}

/** The first position of each value. */
function firstPositions(items: readonly JsonValue[]): ReadonlyMap<JsonValue, number> {
  const out = new Map<JsonValue, number>()
  for (let i = items.length - 1; i >= 0; i--) out.set(items[i] as JsonValue, i)
  return out
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
  requireKeys(mergeKey, before, after)
  const byKey = (a: JsonObject, b: JsonObject) => byText(a[mergeKey], b[mergeKey])
  const changes: JsonObject[] = []
  const deletions: JsonObject[] = []
  // As on kube-apiserver, items with equal keys are reversed.
  const sorted = (items: JsonObject[]) => [...items].reverse().sort(byKey)
  walkSorted(sorted(before), sorted(after), (item) => String(item[mergeKey]), {
    onlyOld(item) {
      if (!options.ignoreDeletions) deletions.push({ [mergeKey]: item[mergeKey] as JsonValue, [patchDirective]: 'delete' })
    },
    onlyNew(item) {
      if (!options.ignoreChangesAndAdditions) changes.push(item)
    },
    both(old, now) {
      const below = diffMaps(old, now, meta.type, options)
      if (Object.keys(below).length > 0) changes.push({ ...below, [mergeKey]: now[mergeKey] as JsonValue })
    },
  })
  const position = new Map(after.map((item, i) => [item[mergeKey] as JsonValue, i] as const).reverse())
  changes.sort((a, b) => (position.get(a[mergeKey] as JsonValue) ?? 0) - (position.get(b[mergeKey] as JsonValue) ?? 0))
  const listed = [...changes, ...deletions]
  if (listed.length > 0) setMember(patch, key, listed)
  const moved = before.length !== after.length || before.some((item, i) => item[mergeKey] !== after[i]?.[mergeKey])
  const needed =
    (!options.ignoreChangesAndAdditions && (listed.length > 0 || moved)) || (!options.ignoreDeletions && listed.length > 0)
  if (options.setElementOrder && needed && after.length > 0) {
    patch[`${setElementOrderPrefix}/${key}`] = after.map((item) => ({ [mergeKey]: item[mergeKey] as JsonValue }))
  }
}

interface SortedWalk<T> {
  onlyOld(item: T): void
  onlyNew(item: T): void
  both(old: T, now: T): void
}

/** Merge-joins two sorted lists; repeated items are matched one by one. */
function walkSorted<T>(old: readonly T[], now: readonly T[], textOf: (item: T) => string, visit: SortedWalk<T>): void {
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    const order = i >= old.length ? 1 : j >= now.length ? -1 : compareCodePoints(textOf(old[i] as T), textOf(now[j] as T))
    if (order < 0) visit.onlyOld(old[i++] as T)
    else if (order > 0) visit.onlyNew(now[j++] as T)
    else visit.both(old[i++] as T, now[j++] as T)
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
  return compareCodePoints(String(a), String(b))
}

/** Whether both patches set the same field to different values. */
function haveConflicts(left: JsonValue, right: JsonValue, type: PatchType, meta?: PatchMeta): boolean {
  if (isJsonObject(left)) {
    if (!isJsonObject(right) || left[patchDirective] !== right[patchDirective]) return true
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
