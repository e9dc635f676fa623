import type { Work } from '@krmkit/base/work'
import { invariant } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { difference, intersection } from '../fieldpath/set-algebra.ts'
import { namedFieldsAsMembers } from '../typed/named-fields.ts'
import { type KnownPaths, pathsWithStructs } from '../typed/paths-with-structs.ts'
import { removeItems } from '../typed/remove.ts'
import { type Converter, convertFor, type TypedValue } from './converter.ts'
import type { Managers, VersionedSet } from './managers.ts'

/** The state of an apply. `managers` already contains the new set of the applying manager. */
export interface PruneInput {
  readonly managers: Managers
  readonly manager: string
  /** The set of the manager's previous apply. */
  readonly last: VersionedSet | undefined
  readonly converter: Converter
}

const pruning = 'failed to prune fields'

/**
 * Removes fields from the merged object that the manager applied last time but no longer applies, and that no other manager owns.
 *
 * Removing an item removes everything below it, so two steps add fields back: fields that any manager owns, and fields that the manager
 * never applied.
 */
export function* prune(merged: TypedValue, { managers, manager, last, converter }: PruneInput): Work<TypedValue> {
  if (last === undefined || last.set.empty) return merged
  const { apiVersion, set: now } = managers.get(manager) as VersionedSet
  // The manager dropped no field, so nothing is removed.
  if (last.apiVersion === apiVersion && last.set.isSubsetOf(now)) return merged
  const converted = yield* convertFor(
    `${pruning}: failed to convert merged object to last applied version`,
    converter,
    merged,
    last.apiVersion,
  )
  if (converted === undefined) return merged
  const pruned = remove(converted, yield* namedFieldsAsMembers(last.set, converted.type))
  const known: KnownPaths = new Map()
  yield true
  const kept = yield* addBackOwned(converted, pruned, last.apiVersion, { managers, converter, known })
  yield true
  const dangling = yield* addBackDangling(converted, kept, last, { converter, known })
  yield true
  const out = yield* convertFor(pruning, converter, dangling, apiVersion)
  invariant(out !== undefined, 'the version of an apply is known')
  return out
}

/** Starts with the version of the pruned object, so that conversions find the fields they depend on. */
function* addBackOwned(
  merged: TypedValue,
  pruned: TypedValue,
  prunedVersion: string,
  { managers, converter, known }: { managers: Managers; converter: Converter; known: KnownPaths },
): Work<TypedValue> {
  const owned = new Map<string, FieldSet>()
  for (const { apiVersion, set } of managers.values()) {
    const others = owned.get(apiVersion)
    owned.set(apiVersion, others === undefined ? set : others.union(set))
  }
  const versions = [...owned.keys()].sort((a, b) => Number(b === prunedVersion) - Number(a === prunedVersion))
  let state = { merged, pruned }
  for (const version of versions) {
    yield true
    state = yield* addBackOwnedAt(state, version, owned.get(version) as FieldSet, { converter, known })
  }
  return state.pruned
}

function* addBackOwnedAt(
  state: { merged: TypedValue; pruned: TypedValue },
  apiVersion: string,
  owned: FieldSet,
  { converter, known }: { converter: Converter; known: KnownPaths },
): Work<{ merged: TypedValue; pruned: TypedValue }> {
  const failure = (object: string) =>
    `${pruning}: failed add back owned items: failed to convert ${object} object at version ${apiVersion}`
  const merged = yield* convertFor(failure('merged'), converter, state.merged, apiVersion)
  if (merged === undefined) return state
  const pruned = yield* convertFor(failure('pruned'), converter, state.pruned, apiVersion)
  if (pruned === undefined) return { merged, pruned: state.pruned }
  const removed = yield* removedPaths(merged, pruned, known)
  yield true
  const named = yield* namedFieldsAsMembers(owned, merged.type)
  yield true
  const gone = yield* difference(removed, named)
  yield true
  return { merged, pruned: remove(merged, gone) }
}

function* addBackDangling(
  merged: TypedValue,
  pruned: TypedValue,
  last: VersionedSet,
  { converter, known }: { converter: Converter; known: KnownPaths },
): Work<TypedValue> {
  const failure = `${pruning}: failed add back dangling items: failed to convert pruned object to last applied version`
  const converted = yield* convertFor(failure, converter, pruned, last.apiVersion)
  if (converted === undefined) return merged
  const gone = yield* removedPaths(merged, converted, known)
  yield true
  const named = yield* namedFieldsAsMembers(last.set, merged.type)
  yield true
  return remove(merged, yield* intersection(gone, named))
}

/** The paths, with struct fields, that an object has and its pruned form lacks. */
function* removedPaths(object: TypedValue, pruned: TypedValue, known: KnownPaths): Work<FieldSet> {
  const before = yield* pathsWithStructs(object.value, object.type, known)
  yield true
  const after = yield* pathsWithStructs(pruned.value, pruned.type, known)
  yield true
  return yield* difference(before, after)
}

function remove({ value, type }: TypedValue, set: FieldSet): TypedValue {
  return { value: removeItems(value ?? null, set, type), type }
}
