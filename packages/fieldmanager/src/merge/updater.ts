import { runAtOnce } from '@krmkit/meta'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import type { Comparison } from '../typed/compare.ts'
import { compareSteps, compareTyped, filterComparison, isSame } from '../typed/compare.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { mergeTyped } from '../typed/merge.ts'
import { reconcileFieldSet } from '../typed/reconcile.ts'
import { equalValues } from '../value/order.ts'
import type { Conflict } from './conflict.ts'
import { conflictsOf } from './conflict.ts'
import type { Converter, TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'
import { prune } from './prune.ts'

/**
 * How ownership moves when objects are written: updates take what they change, applies own what they say.
 *
 * ```
 *            nobody ──update changes it──▶ updater ──another update changes it──▶ other updater
 *               │                             │
 *               └──apply names it──▶ applier ◀┴─apply names the same value (both own)
 *                                       │
 *                another apply changes it: conflict; forced: the other owns it
 *                apply names it no more: removed, unless somebody else owns it
 * ```
 */
export interface UpdaterOptions {
  readonly converter: Converter
  /** What ownership of fields is not kept for, by version. */
  readonly ignored?: Readonly<Record<string, SetFilter>> | undefined
  /** Returns the object of an apply that changes nothing too. */
  readonly returnInputOnNoop?: boolean
}

export interface ApplyOptions extends UpdaterOptions {
  /** How many conflicts are listed; all by default. */
  readonly maxConflicts?: number | undefined
  /** The apply is run in slices, so comparisons are cut too. */
  readonly sliced?: boolean | undefined
  /** What `fieldSetOf` says of the applied value, which has been checked against its type then. */
  readonly named?: FieldSet | undefined
  /** Paths that the applying manager never owns, though it may name them. */
  readonly unowned?: FieldSet | undefined
}

/** A write and who makes it. */
export interface Write {
  /** The stored object at `apiVersion`. */
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
  /** What others own of what the apply changes. */
  readonly taken: Managers
  /** The same path by path. */
  readonly conflicts: readonly Conflict[]
}

/**
 * The owners after a write that is no apply: `manager` owns what differs between live and next, and nobody else does.
 *
 * @param comparison of live and next, when it is known already.
 * @throws FieldManagerError `InvalidObject` when the objects cannot be compared.
 */
export function updateManagers(
  write: Write,
  next: TypedValue,
  options: UpdaterOptions,
  comparison: Comparison = compareTyped(write.live.value, next.value, next.type),
): Managers {
  return runAtOnce(updateManagersSteps(write, next, options, comparison))
}

/** The same, to be run in slices. */
export function* updateManagersSteps(
  write: Write,
  next: TypedValue,
  options: UpdaterOptions,
  comparison: Comparison,
): Generator<void, Managers> {
  const { apiVersion, manager } = write
  const managers = reconcileManagers(write, options.converter)
  yield
  const { owners } = yield* handOver({ ...write, managers }, next, options, comparison)
  if (isSame(comparison) && !owners.has(manager)) return owners
  const previous = owners.get(manager)?.set ?? emptySet
  const kept = previous.difference(comparison.removed)
  yield
  const changed = kept.union(comparison.modified).union(comparison.added)
  yield
  const set = filterSet(changed, options.ignored?.[apiVersion])
  return withManager(owners, manager, { set, apiVersion, applied: false })
}

/**
 * Whether an update changes nothing about owners, as most do not: what differs is its manager's already and nobody else's, and
 * nothing that is owned goes away. Says no in doubt.
 *
 * @param unowned paths that nobody can own.
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
 * Merges what a manager applies into the live object, removes what it no longer names, and moves ownership.
 *
 * Without `force`, changing what others own is a conflict; with it they lose what is changed.
 *
 * @throws FieldManagerError `InvalidObject` when the objects cannot be merged.
 */
export function applyManager(write: Write, applied: TypedValue, force: boolean, options: ApplyOptions): ApplyOutcome {
  return runAtOnce(applyManagerSteps(write, applied, force, options))
}

/** The same, to be run in slices. */
export function* applyManagerSteps(
  write: Write,
  applied: TypedValue,
  force: boolean,
  options: ApplyOptions,
): Generator<void, ApplyOutcome> {
  const { live, apiVersion, manager } = write
  const { converter } = options
  const before = reconcileManagers(write, converter)
  yield
  const checked = options.named !== undefined
  const merged: TypedValue = { value: mergeTyped(live.value, applied.value, applied.type, { checked }) ?? null, type: live.type }
  yield
  const last = before.get(manager)
  const named =
    applied.value === undefined
      ? emptySet
      : filterSet(options.named ?? fieldSetOf(applied.value, applied.type), options.ignored?.[apiVersion])
  const owned = options.unowned === undefined ? named : named.difference(options.unowned)
  const set = last?.set.equals(owned) ? last.set : owned
  // What is named again can neither go nor move.
  const again = last?.set === set && last.apiVersion === apiVersion
  if (again && merged.value === live.value && !options.returnInputOnNoop && noneEmpty(before)) {
    return { kind: 'applied', object: undefined, managers: before }
  }
  const own = { set, apiVersion, applied: true }
  const naming = set === named ? own : { set: named, apiVersion, applied: true }
  const pruning = { managers: new Map(before).set(manager, naming), manager, last, converter }
  const object = again ? merged : yield* prune(merged, pruning)
  yield
  const comparison = options.sliced
    ? yield* compareSteps(live.value, object.value, object.type)
    : compareTyped(live.value, object.value, object.type)
  const managers = new Map(before).set(manager, own)
  const { owners, conflicts } = yield* handOver({ ...write, managers }, object, options, comparison)
  yield
  if (!force && conflicts.size > 0) return applyConflict(conflicts, options.maxConflicts)
  // Only the order of lists is nobody's difference.
  const noop = object.value === live.value || (isSame(comparison) && equalValues(live.value ?? null, object.value))
  return { kind: 'applied', object: noop && !options.returnInputOnNoop ? undefined : object, managers: owners }
}

/** @param limit how many conflicts are listed. */
export function applyConflict(taken: Managers, limit?: number): ApplyConflict {
  return { kind: 'conflict', taken, conflicts: conflictsOf(taken, limit) }
}

function noneEmpty(managers: Managers): boolean {
  for (const { set } of managers.values()) if (set.empty) return false
  return true
}

interface HandOver {
  /** Owners with everything taken from them that the write changes or removes. */
  readonly owners: Managers
  /** What others own of what the write changes. */
  readonly conflicts: Managers
}

function* handOver(
  write: Write,
  next: TypedValue,
  { converter, ignored }: UpdaterOptions,
  comparison: Comparison,
): Generator<void, HandOver> {
  const { live, apiVersion, managers, manager } = write
  const byVersion = new Map([[apiVersion, filterComparison(comparison, ignored?.[apiVersion])]])
  const same = isSame(comparison)
  const conflicts = new Map<string, VersionedSet>()
  const owners = new Map<string, VersionedSet>()
  for (const [name, owned] of managers) {
    if (name === manager || (same && (owned.apiVersion === apiVersion || converter.knows?.(owned.apiVersion)))) {
      if (!owned.set.empty) owners.set(name, owned)
      continue
    }
    let changes = byVersion.get(owned.apiVersion)
    if (changes === undefined) {
      yield
      changes = compareAt(owned.apiVersion, live, next, converter)
      if (changes === undefined) continue
      changes = filterComparison(changes, ignored?.[owned.apiVersion])
      byVersion.set(owned.apiVersion, changes)
    }
    const taken = owned.set.intersection(changes.modified.union(changes.added))
    if (!taken.empty) conflicts.set(name, { set: taken, apiVersion: owned.apiVersion, applied: false })
    yield
    const set = owned.set.difference(taken).difference(changes.removed)
    if (!set.empty) owners.set(name, set === owned.set ? owned : { ...owned, set })
  }
  return { owners, conflicts }
}

function compareAt(apiVersion: string, live: TypedValue, next: TypedValue, converter: Converter): Comparison | undefined {
  const before = converter.convert(live, apiVersion)
  const after = before === undefined ? undefined : converter.convert(next, apiVersion)
  return before === undefined || after === undefined ? undefined : compareTyped(before.value, after.value, after.type)
}

/** Owners under the schemas of today. */
function reconcileManagers({ live, apiVersion, managers }: Write, converter: Converter): Managers {
  let out: Map<string, VersionedSet> | undefined
  const types = new Map([[apiVersion, live.type]])
  for (const [name, owned] of managers) {
    let type = types.get(owned.apiVersion)
    if (type === undefined) {
      type = converter.convert(live, owned.apiVersion)?.type
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

function withManager(managers: Managers, name: string, owned: VersionedSet): Managers {
  const out = new Map(managers)
  if (owned.set.empty) out.delete(name)
  else out.set(name, owned)
  return out
}
