import { invariant } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { fieldSetWithKeyless } from '../typed/field-set-of.ts'
import { ensureNamedFieldsAreMembers } from '../typed/named-fields.ts'
import { removeItems } from '../typed/remove.ts'
import type { TypeRef } from '../typed/types.ts'
import type { Converter, TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'

/** State of an apply; `managers` already contains the new set of the applying manager. */
export interface PruneInput {
  readonly managers: Managers
  readonly manager: string
  /** The set of the manager's previous apply. */
  readonly last: VersionedSet | undefined
  readonly converter: Converter
}

/**
 * Removes from the merged object what the manager applied last time, no longer applies, and no other manager owns.
 *
 * Removing an item removes everything below it, so two steps add fields back: those that any manager owns, and those that the
 * manager never applied.
 */
export function* prune(merged: TypedValue, { managers, manager, last, converter }: PruneInput): Generator<unknown, TypedValue> {
  if (last === undefined || last.set.empty) return merged
  const { apiVersion, set: now } = managers.get(manager) as VersionedSet
  // The manager dropped no field, so nothing is removed.
  if (last.apiVersion === apiVersion && last.set.isSubsetOf(now)) return merged
  const converted = converter.convert(merged, last.apiVersion)
  if (converted === undefined) return merged
  const pruned = remove(converted, ensureNamedFieldsAreMembers(last.set, converted.type))
  const setOf = fieldSetsWithStructs()
  yield
  const kept = yield* addBackOwned(converted, pruned, last.apiVersion, { managers, converter, setOf })
  yield
  const dangling = addBackDangling(converted, kept, last, { converter, setOf })
  yield
  const out = converter.convert(dangling, apiVersion)
  invariant(out !== undefined, 'the version of an apply is known')
  return out
}

/** Starts with the version of the pruned object, so that conversions find the fields they depend on. */
function* addBackOwned(
  merged: TypedValue,
  pruned: TypedValue,
  prunedVersion: string,
  { managers, converter, setOf }: { managers: Managers; converter: Converter; setOf: FieldSetsWithStructs },
): Generator<unknown, TypedValue> {
  const owned = new Map<string, FieldSet>()
  for (const { apiVersion, set } of managers.values()) {
    const known = owned.get(apiVersion)
    owned.set(apiVersion, known === undefined ? set : known.union(set))
  }
  const versions = [...owned.keys()].sort((a, b) => Number(b === prunedVersion) - Number(a === prunedVersion))
  let state = { merged, pruned }
  for (const version of versions) {
    yield
    state = yield* addBackOwnedAt(state, version, owned.get(version) as FieldSet, { converter, setOf })
  }
  return state.pruned
}

function* addBackOwnedAt(
  state: { merged: TypedValue; pruned: TypedValue },
  apiVersion: string,
  owned: FieldSet,
  { converter, setOf }: { converter: Converter; setOf: FieldSetsWithStructs },
): Generator<unknown, { merged: TypedValue; pruned: TypedValue }> {
  const merged = converter.convert(state.merged, apiVersion)
  if (merged === undefined) return state
  const pruned = converter.convert(state.pruned, apiVersion)
  if (pruned === undefined) return { merged, pruned: state.pruned }
  const before = setOf(merged)
  yield
  const after = setOf(pruned)
  yield
  const gone = before.difference(after).difference(ensureNamedFieldsAreMembers(owned, merged.type))
  yield
  return { merged, pruned: remove(merged, gone) }
}

function addBackDangling(
  merged: TypedValue,
  pruned: TypedValue,
  last: VersionedSet,
  { converter, setOf }: { converter: Converter; setOf: FieldSetsWithStructs },
): TypedValue {
  const converted = converter.convert(pruned, last.apiVersion)
  if (converted === undefined) return merged
  const gone = setOf(merged).difference(setOf(converted))
  return remove(merged, gone.intersection(ensureNamedFieldsAreMembers(last.set, merged.type)))
}

type FieldSetsWithStructs = (object: TypedValue) => FieldSet

/** Caches the field sets, with struct fields, of objects. */
function fieldSetsWithStructs(): FieldSetsWithStructs {
  const known = new Map<TypedValue['value'], { type: TypeRef; set: FieldSet }>()
  return ({ value = null, type }) => {
    const found = known.get(value)
    if (found?.type === type) return found.set
    const set = ensureNamedFieldsAreMembers(fieldSetWithKeyless(value, type), type)
    known.set(value, { type, set })
    return set
  }
}

function remove({ value, type }: TypedValue, set: FieldSet): TypedValue {
  return { value: removeItems(value ?? null, set, type), type }
}
