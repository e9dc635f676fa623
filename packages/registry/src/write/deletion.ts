import type { AdmissionContext } from '@krmkit/admission'
import { deepFreeze } from '@krmkit/base/freeze'
import { Pace, paceOf } from '@krmkit/base/work'
import { ApiError, type ApiObject } from '@krmkit/meta'
import type {
  DeleteCollectionRequest,
  DeleteRequest,
  DeleteRequestOptions,
  DeleteResult,
  FrozenObject,
  WriteContext,
} from '../interfaces.ts'
import { groupResource, type StoredState, type StoreInternals } from '../internals.ts'
import { isStorableName, objectKey } from '../keys.ts'
import { listEntries } from '../read/list.ts'
import { frozen, normalized } from '../versions/canonical-form.ts'
import { presentForm, storedType } from '../versions/version-conversion.ts'
import { admissionAttributes, admissionContext } from './admission.ts'
import { checkPreconditions, isHeld, terminated, validateDeleteOptions, warnOfPropagation } from './deletion-rules.ts'
import { strategyContext } from './metadata.ts'
import { retryLostRaces, traceWritten, untilStored } from './pipeline.ts'
import { removeEntry, writeMark } from './write-entry.ts'

/**
 * The deletion of an object.
 *
 *     live --delete, nothing holds it--> gone; kinds with grace periods are terminating in between
 *     live --delete, finalizers or grace period--> terminating --last finalizer removed, grace period over--> gone
 *
 * @see API protocol specification, 3
 */

/** One DELETE of one object. */
interface Deletion {
  readonly store: StoreInternals
  readonly context: WriteContext
  readonly request: DeleteRequest
  readonly admission: AdmissionContext
  readonly preconditions: DeleteRequestOptions['preconditions']
  /** The terminating object that this deletion has stored; `undefined` before. */
  readonly marked: DeleteResult | undefined
}

/**
 * Deletes an object, or marks it as terminating when finalizers or a grace period hold it.
 *
 * @throws ApiError 404, 409 (preconditions, or too many lost races), 422 (options).
 */
export async function deleteObject(store: StoreInternals, context: WriteContext, request: DeleteRequest): Promise<DeleteResult> {
  const { definition, environment } = store
  const { options, collective = false } = request
  validateDeleteOptions(options, environment)
  if (!collective) warnOfPropagation(definition, options, context)
  const admission = admissionContext(store, context)
  let deletion: Deletion = { store, context, request, admission, preconditions: options.preconditions, marked: undefined }
  let result = await untilStored(store, context, request, () => markOrRemove(deletion))
  while (!result.removed && !isHeld(definition, result.object)) {
    // The object is marked and nothing holds it any more: remove it.
    deletion = { ...deletion, preconditions: afterMark(deletion.preconditions, result), marked: result }
    result = await retryLostRaces(store, context, request, () => markOrRemove(deletion))
  }
  return result
}

/**
 * The preconditions for removing an object that this deletion has marked. A resourceVersion precondition was met by the state before the
 * mark, so the removal requires the version of the mark instead.
 */
function afterMark(preconditions: Deletion['preconditions'], { object }: DeleteResult): Deletion['preconditions'] {
  if (preconditions?.resourceVersion === undefined) return preconditions
  return { ...preconditions, resourceVersion: object.metadata.resourceVersion ?? '' }
}

/** Marks or removes the newest state of the object. @returns `undefined` when another writer was first. */
async function markOrRemove(deletion: Deletion): Promise<DeleteResult | undefined> {
  const { store, context, request, preconditions, marked } = deletion
  const { definition, environment, objectCache, turns } = store
  const { namespace, name, options } = request
  const entry = isStorableName(name) ? environment.storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) {
    // A concurrent deletion has removed the marked object.
    if (marked !== undefined) return { ...marked, removed: true }
    throw ApiError.notFound(groupResource(store), name)
  }
  const current = await objectCache.read(definition, entry)
  checkPreconditions(definition, current, preconditions)
  if (request.skipAdmission !== true) await admit(deletion, current)
  const pace = paceOf(turns, current)
  const next = await terminated(definition, current, { options, context: strategyContext(store, context), pace })
  const live = { entry, current }
  if (next === 'pending') {
    traceWritten(context, current, current)
    return { object: current, entry, removed: false }
  }
  const result = await (next === 'now' ? remove(deletion, live, pace) : mark(deletion, live, next, pace))
  if (result !== undefined) traceWritten(context, current, result.removed ? undefined : result.object)
  return result
}

/** Runs mutating and validating admission of the deletion. */
async function admit({ store, context, request, admission }: Deletion, oldObject: FrozenObject): Promise<void> {
  const { definition, environment } = store
  const { namespace, options, collective = false } = request
  const name = collective ? '' : request.name
  const attributes = admissionAttributes(definition, context, { operation: 'DELETE', name, namespace, options, oldObject })
  await environment.admission.admit(undefined, attributes, admission)
  await environment.admission.validate(undefined, attributes, admission)
}

/** Stores the terminating object. @returns `undefined` when another writer was first. */
async function mark(
  { store, context }: Deletion,
  { entry, current }: StoredState,
  next: ApiObject,
  pace: Pace,
): Promise<DeleteResult | undefined> {
  const object = await normalized(storedType(store), await presentForm(next, store.definition, pace), pace)
  if (context.dryRun) return { object: await frozen(object, pace), removed: !isHeld(store.definition, object) }
  const stored = await writeMark(store, {
    object,
    replaced: entry,
    isRepeated: current.metadata.deletionTimestamp !== undefined,
    pace,
  })
  return stored === undefined ? undefined : { ...stored, removed: false }
}

/** Removes the object from storage. @returns `undefined` when another writer was first. */
async function remove(
  { store, context }: Deletion,
  { entry, current }: StoredState,
  pace: Pace,
): Promise<DeleteResult | undefined> {
  if (context.dryRun) return { object: current, entry, removed: true }
  const { definition, allocations } = store
  const removed = await removeEntry(store, entry, pace)
  if (removed === undefined) return undefined
  await allocations.removed(definition, removed.object)
  if (definition.conversion === undefined) return { ...removed, removed: true }
  // The response shows the last state in the version of the request.
  const { resourceVersion = '' } = removed.object.metadata
  return { object: deepFreeze({ ...current, metadata: { ...current.metadata, resourceVersion } }), removed: true }
}

/** Maximum number of concurrent deletions. */
const maxWorkers = 16

/**
 * Deletes every object that the list selects when the request starts, each by the rules of a single deletion.
 *
 * @throws ApiError of the first deletion that fails
 */
export async function deleteCollection(
  store: StoreInternals,
  context: WriteContext,
  { options, ...listed }: DeleteCollectionRequest,
): Promise<void> {
  validateDeleteOptions(options, store.environment)
  warnOfPropagation(store.definition, options, context)
  const { entries } = await listEntries(store, listed, context.signal)
  const pace = new Pace(store.turns)
  let next = 0
  const work = async (): Promise<void> => {
    for (let entry = entries[next++]; entry !== undefined; entry = entries[next++]) {
      const { name = '', namespace = '' } = store.objectCache.objectOf(entry).metadata
      try {
        await deleteObject(store, context, { namespace, name, options, collective: true })
      } catch (error) {
        // Another request has deleted the object since the list was read.
        if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
      }
      // With a storage that answers synchronously, the loop would otherwise block the event loop until the last deletion.
      if (pace.due(true)) await pace.next()
    }
  }
  // With preconditions, objects are deleted in order up to the first that does not meet them. Objects with a grace period may be written
  // twice; as on kube-apiserver, watchers see both writes of one object before those of the next.
  // The same holds for objects that a webhook converts, whose deletions take a time of their own.
  const { strategy, conversion } = store.definition
  const isInOrder = options.preconditions !== undefined || strategy.gracePeriodSeconds !== undefined || conversion !== undefined
  const workers = isInOrder ? 1 : maxWorkers
  await Promise.all(Array.from({ length: Math.min(workers, entries.length) }, work))
}
