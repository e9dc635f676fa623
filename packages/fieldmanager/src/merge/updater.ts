import type { Work } from '@krmkit/base/work'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { difference, intersection } from '../fieldpath/set-algebra.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import { type Comparison, compareTyped, filterComparison, isSame } from '../typed/compare.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { mergeTyped } from '../typed/merge.ts'
import { reconcileFieldSet } from '../typed/reconcile.ts'
import { equalValues } from '../value/equal.ts'
import { type Conflict, conflictsOf } from './conflict.ts'
import { type Converter, convertFor, type TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'
import { prune } from './prune.ts'

/**
 * Ownership transitions: an update takes over the fields that it changes, and an apply owns the fields that it names.
 *
 * ```
 *            unowned ──update changes it──▶ updater ──another update changes it──▶ other updater
 *               │                             │
 *               └──apply names it──▶ applier ◀┴─apply names the same value (both own)
 *                                       │
 *                another apply changes it: conflict; with force, ownership moves
 *                next apply omits it: removed, unless another manager owns it
 * ```
 */
export interface UpdaterOptions {
  readonly converter: Converter
  /** Fields for which ownership is not recorded, by version. */
  readonly ignored?: Readonly<Record<string, SetFilter>> | undefined
  /** Whether the object is returned even when an apply changes nothing. */
  readonly returnInputOnNoop?: boolean
}

export interface ApplyOptions extends UpdaterOptions {
  /** Maximum number of conflicts listed; unlimited by default. */
  readonly maxConflicts?: number | undefined
  /** The field set of the applied value, when precomputed; the value is then known to be valid. */
  readonly appliedSet?: FieldSet | undefined
  /** Paths that the applying manager never owns, even when it names them. */
  readonly unowned?: FieldSet | undefined
}

/** A write by a manager. */
export interface Write {
  /** The stored object in `apiVersion`. */
  readonly live: TypedValue
  readonly apiVersion: string
  readonly managers: Managers
  readonly manager: string
}

export type ApplyOutcome =
  | {
      readonly kind: 'applied'
      /** `undefined` when the apply changes nothing. */
      readonly object: TypedValue | undefined
      readonly managers: Managers
    }
  | ApplyConflict

export interface ApplyConflict {
  readonly kind: 'conflict'
  /** The fields changed by the apply that other managers own. */
  readonly taken: Managers
  /** `taken` as a list of paths. */
  readonly conflicts: readonly Conflict[]
}

/**
 * The managers after an update: `manager` becomes the only owner of the fields that differ between live and next.
 *
 * @param known The comparison of live and next, if already known.
 * @throws FieldManagerError `InvalidObject` when the objects cannot be compared.
 * @example
 * ```ts
 * import { identityConverter as converter, updateManagers } from '@krmkit/fieldmanager/merge'
 * import { deducedType as type } from '@krmkit/fieldmanager/typed'
 *
 * const write = { live: { value: { color: 'blue' }, type }, apiVersion: 'v1', managers: new Map(), manager: 'jane' }
 * updateManagers(write, { value: { color: 'red' }, type }, { converter }).get('jane')?.set.toString() // '.color'
 * ```
 */
export function* updateManagers(write: Write, next: TypedValue, options: UpdaterOptions, known?: Comparison): Work<Managers> {
  const comparison = known ?? (yield* compareTyped(write.live.value, next.value, next.type))
  const { apiVersion, manager } = write
  const managers = yield* reconcileManagers(write, options.converter)
  yield true
  const { owners } = yield* transferOwnership({ ...write, managers }, next, options, comparison)
  if (isSame(comparison) && !owners.has(manager)) return owners
  const previous = owners.get(manager)?.set ?? emptySet
  const kept = yield* difference(previous, comparison.removed)
  yield true
  const changed = kept.union(comparison.modified).union(comparison.added)
  yield true
  const set = filterSet(changed, options.ignored?.[apiVersion])
  return replaceManager(owners, manager, { set, apiVersion, applied: false })
}

/**
 * Fast path: whether an update leaves ownership unchanged, as most do. True when its manager already is the only owner of all
 * changed fields and no owned field is removed; false when uncertain.
 *
 * @param unowned Paths that are never owned.
 */
export function ownsChanges(write: Write, comparison: Comparison, unowned: FieldSet, ignored?: SetFilter): boolean {
  const { live, apiVersion, managers, manager } = write
  const own = managers.get(manager)
  if (own === undefined || own.applied) return false
  const { added, modified, removed } = filterComparison(comparison, ignored)
  const changed = modified.union(added)
  const owned = changed.difference(unowned)
  if (owned.empty || !owned.isSubsetOf(own.set)) return false
  for (const each of managers.values()) {
    if (each.apiVersion !== apiVersion || reconcileFieldSet(each.set, live.type) !== each.set) return false
    if (each.set.difference(removed) !== each.set || each.set.difference(unowned) !== each.set) return false
    if (each !== own && each.set.difference(changed) !== each.set) return false
  }
  return true
}

/**
 * Merges the applied configuration into the live object, removes fields it no longer names, and moves ownership.
 *
 * Without `force`, changing fields of other managers is a conflict. With `force`, the other managers lose these fields.
 *
 * @throws FieldManagerError `InvalidObject` when the objects cannot be merged.
 * @example
 * ```ts
 * import { applyManager, identityConverter as converter } from '@krmkit/fieldmanager/merge'
 * import { deducedType as type } from '@krmkit/fieldmanager/typed'
 *
 * const write = { live: { value: undefined, type }, apiVersion: 'v1', managers: new Map(), manager: 'ci' }
 * const created = applyManager(write, { value: { data: { color: 'blue' } }, type }, false, { converter })
 * if (created.kind === 'applied') created.managers.get('ci')?.set.toString() // '.data\n.data.color'
 * ```
 */
export function* applyManager(write: Write, applied: TypedValue, force: boolean, options: ApplyOptions): Work<ApplyOutcome> {
  const { live, apiVersion, manager } = write
  const { converter } = options
  const before = yield* reconcileManagers(write, converter)
  yield true
  const checked = options.appliedSet !== undefined
  const joined = yield* mergeTyped(live.value, applied.value, applied.type, { checked })
  const merged: TypedValue = { value: joined ?? null, type: live.type }
  yield true
  const last = before.get(manager)
  const appliedSet =
    applied.value === undefined
      ? emptySet
      : filterSet(options.appliedSet ?? fieldSetOf(applied.value, applied.type), options.ignored?.[apiVersion])
  const owned = options.unowned === undefined ? appliedSet : appliedSet.difference(options.unowned)
  const set = last?.set.equals(owned) ? last.set : owned
  // With an unchanged set, nothing is pruned and no ownership moves.
  const unchangedSet = last?.set === set && last.apiVersion === apiVersion
  if (unchangedSet && merged.value === live.value && !options.returnInputOnNoop && hasNoEmptySet(before)) {
    return { kind: 'applied', object: undefined, managers: before }
  }
  const own = { set, apiVersion, applied: true }
  const applying = set === appliedSet ? own : { set: appliedSet, apiVersion, applied: true }
  const pruning = { managers: new Map(before).set(manager, applying), manager, last, converter }
  const object = unchangedSet ? merged : yield* prune(merged, pruning)
  yield true
  const comparison = yield* compareTyped(live.value, object.value, object.type)
  const managers = new Map(before).set(manager, own)
  const { owners, conflicts } = yield* transferOwnership({ ...write, managers }, object, options, comparison)
  yield true
  if (!force && conflicts.size > 0) return applyConflict(conflicts, options.maxConflicts)
  // A change of only the list order is not part of the comparison, so compare values as well.
  const noop = object.value === live.value || (isSame(comparison) && (yield* equalValues(live.value ?? null, object.value)))
  return { kind: 'applied', object: noop && !options.returnInputOnNoop ? undefined : object, managers: owners }
}

/** @param limit Maximum number of conflicts listed. */
export function applyConflict(taken: Managers, limit?: number): ApplyConflict {
  return { kind: 'conflict', taken, conflicts: conflictsOf(taken, limit) }
}

export function hasNoEmptySet(managers: Managers): boolean {
  for (const { set } of managers.values()) if (set.empty) return false
  return true
}

export interface Transfer {
  /** The managers without the fields that the write changes or removes. */
  readonly owners: Managers
  /** The fields changed by the write that other managers own. */
  readonly conflicts: Managers
}

function* transferOwnership(
  write: Write,
  next: TypedValue,
  { converter, ignored }: UpdaterOptions,
  comparison: Comparison,
): Work<Transfer> {
  const { live, apiVersion, managers, manager } = write
  const byVersion = new Map([[apiVersion, filterComparison(comparison, ignored?.[apiVersion])]])
  const same = isSame(comparison)
  const conflicts = new Map<string, VersionedSet>()
  const owners = new Map<string, VersionedSet>()
  for (const [name, owned] of managers) {
    if (name === manager || (same && (owned.apiVersion === apiVersion || converter.isKnown?.(owned.apiVersion)))) {
      if (!owned.set.empty) owners.set(name, owned)
      continue
    }
    let changes = byVersion.get(owned.apiVersion)
    if (changes === undefined) {
      yield true
      changes = yield* compareAt(owned.apiVersion, live, next, converter)
      if (changes === undefined) continue
      changes = filterComparison(changes, ignored?.[owned.apiVersion])
      byVersion.set(owned.apiVersion, changes)
    }
    const changed = changes.modified.union(changes.added)
    const taken = yield* intersection(owned.set, changed)
    if (!taken.empty) conflicts.set(name, { set: taken, apiVersion: owned.apiVersion, applied: false })
    yield true
    const set = yield* difference(yield* difference(owned.set, taken), changes.removed)
    if (!set.empty) owners.set(name, set === owned.set ? owned : { ...owned, set })
  }
  return { owners, conflicts }
}

function* compareAt(apiVersion: string, live: TypedValue, next: TypedValue, converter: Converter): Work<Comparison | undefined> {
  const before = yield* convertFor('failed to convert old object', converter, live, apiVersion)
  const after = before && (yield* convertFor('failed to convert new object', converter, next, apiVersion))
  return before === undefined || after === undefined ? undefined : yield* compareTyped(before.value, after.value, after.type)
}

/** Adapts the sets of the managers to the current schemas. */
function* reconcileManagers({ live, apiVersion, managers }: Write, converter: Converter): Work<Managers> {
  let out: Map<string, VersionedSet> | undefined
  const types = new Map([[apiVersion, live.type]])
  for (const [name, owned] of managers) {
    let type = types.get(owned.apiVersion)
    if (type === undefined) {
      type = (yield* converter.convert(live, owned.apiVersion))?.type
      if (type === undefined) {
        out ??= new Map(managers)
        out.delete(name)
        continue
      }
      types.set(owned.apiVersion, type)
    }
    const set: FieldSet = reconcileFieldSet(owned.set, type)
    if (set === owned.set) continue
    out ??= new Map(managers)
    out.set(name, { ...owned, set })
  }
  return out ?? managers
}

export function replaceManager(managers: Managers, name: string, owned: VersionedSet): Managers {
  const out = new Map(managers)
  if (owned.set.empty) out.delete(name)
  else out.set(name, owned)
  return out
}
