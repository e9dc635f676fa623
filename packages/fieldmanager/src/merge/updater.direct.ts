// Derived from updater.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { emptySet, type FieldSet } from '../fieldpath/field-set.ts'
import { difference, intersection } from '../fieldpath/set-algebra.direct.ts'
import { filterSet } from '../fieldpath/set-filter.ts'
import { compareTyped } from '../typed/compare.direct.ts'
import { type Comparison, filterComparison, isSame } from '../typed/compare.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import { mergeTyped } from '../typed/merge.direct.ts'
import { reconcileFieldSet } from '../typed/reconcile.ts'
import { equalValues } from '../value/equal.direct.ts'
import { type Converter, convertFor, type TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'
import { prune } from './prune.ts'
import {
  type ApplyOptions,
  type ApplyOutcome,
  applyConflict,
  hasNoEmptySet,
  replaceManager,
  type Transfer,
  type UpdaterOptions,
  type Write,
} from './updater.ts'

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
export function updateManagers(write: Write, next: TypedValue, options: UpdaterOptions, known?: Comparison): Managers {
  const comparison = known ?? compareTyped(write.live.value, next.value, next.type)
  const { apiVersion, manager } = write
  const managers = reconcileManagers(write, options.converter)

  const { owners } = transferOwnership({ ...write, managers }, next, options, comparison)
  if (isSame(comparison) && !owners.has(manager)) return owners
  const previous = owners.get(manager)?.set ?? emptySet
  const kept = difference(previous, comparison.removed)

  const changed = kept.union(comparison.modified).union(comparison.added)

  const set = filterSet(changed, options.ignored?.[apiVersion])
  return replaceManager(owners, manager, { set, apiVersion, applied: false })
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
export function applyManager(write: Write, applied: TypedValue, force: boolean, options: ApplyOptions): ApplyOutcome {
  const { live, apiVersion, manager } = write
  const { converter } = options
  const before = reconcileManagers(write, converter)

  const checked = options.appliedSet !== undefined
  const joined = mergeTyped(live.value, applied.value, applied.type, { checked })
  const merged: TypedValue = { value: joined ?? null, type: live.type }

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
  const object = unchangedSet ? merged : runAtOnce(prune(merged, pruning))

  const comparison = compareTyped(live.value, object.value, object.type)
  const managers = new Map(before).set(manager, own)
  const { owners, conflicts } = transferOwnership({ ...write, managers }, object, options, comparison)

  if (!force && conflicts.size > 0) return applyConflict(conflicts, options.maxConflicts)
  // A change of only the list order is not part of the comparison, so compare values as well.
  const noop = object.value === live.value || (isSame(comparison) && equalValues(live.value ?? null, object.value))
  return { kind: 'applied', object: noop && !options.returnInputOnNoop ? undefined : object, managers: owners }
}

function transferOwnership(
  write: Write,
  next: TypedValue,
  { converter, ignored }: UpdaterOptions,
  comparison: Comparison,
): Transfer {
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
      changes = compareAt(owned.apiVersion, live, next, converter)
      if (changes === undefined) continue
      changes = filterComparison(changes, ignored?.[owned.apiVersion])
      byVersion.set(owned.apiVersion, changes)
    }
    const changed = changes.modified.union(changes.added)
    const taken = intersection(owned.set, changed)
    if (!taken.empty) conflicts.set(name, { set: taken, apiVersion: owned.apiVersion, applied: false })

    const set = difference(difference(owned.set, taken), changes.removed)
    if (!set.empty) owners.set(name, set === owned.set ? owned : { ...owned, set })
  }
  return { owners, conflicts }
}

function compareAt(apiVersion: string, live: TypedValue, next: TypedValue, converter: Converter): Comparison | undefined {
  const before = runAtOnce(convertFor('failed to convert old object', converter, live, apiVersion))
  const after = before && runAtOnce(convertFor('failed to convert new object', converter, next, apiVersion))
  return before === undefined || after === undefined ? undefined : compareTyped(before.value, after.value, after.type)
}

/** Adapts the sets of the managers to the current schemas. */
function reconcileManagers({ live, apiVersion, managers }: Write, converter: Converter): Managers {
  let out: Map<string, VersionedSet> | undefined
  const types = new Map([[apiVersion, live.type]])
  for (const [name, owned] of managers) {
    let type = types.get(owned.apiVersion)
    if (type === undefined) {
      type = runAtOnce(converter.convert(live, owned.apiVersion))?.type
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
