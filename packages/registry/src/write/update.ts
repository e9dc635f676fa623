import type { RequestSpan } from '@krmkit/base/tracing'
import { type Pace, paceOf, type Work } from '@krmkit/base/work'
import * as paced from '@krmkit/fieldmanager/paced'
import { equalValues } from '@krmkit/fieldmanager/value'
import { validationWork } from '@krmkit/kinds'
import { reportedErrors } from '@krmkit/kinds/strategies'
import { ApiError, type ApiObject, type FieldError, type JsonValue } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject, Stored, StoredUpdate, UpdateResult, WriteContext } from '../interfaces.ts'
import { groupResource, type StoredState, type StoreInternals } from '../internals.ts'
import { isStorableName, objectKey } from '../keys.ts'
import { keepTimestamps } from '../ownership/field-ownership.ts'
import { canonicalForm, frozen, mutableCopy, shownByDryRun } from '../versions/canonical-form.ts'
import { loadVersion, presentForm } from '../versions/version-conversion.ts'
import { admissionAttributes, admissionContext, writeReserved } from './admission.ts'
import { createObject } from './create.ts'
import {
  assignNamespace,
  carryOverMetadata,
  checkResourceVersion,
  completeByMarkers,
  copyMetadata,
  dropMember,
  mayRemoveAfterUpdate,
  requireVersionNumber,
  validateUpdateByStrategy,
  validateUpdatedMetadata,
} from './metadata.ts'
import { type Draft, runPipeline, subresourceStrategy, untilStored, type Verb, type Write } from './pipeline.ts'
import { uidConflict } from './uid-conflict.ts'
import { inWriteSpan, isStoredAs, removeEntry, writeEntry } from './write-entry.ts'

/**
 * Changes an object, or creates it where the request allows. Runs the change again from the newest state when another writer was
 * first.
 *
 * @returns the stored object; an unchanged one keeps its resourceVersion.
 * @throws ApiError 404, 409 (lost race with a given resourceVersion, or another uid), 422 (invalid).
 */
export function updateObject(store: StoreInternals, context: WriteContext, request: StoredUpdate): Promise<UpdateResult> {
  return inWriteSpan(store, context.span, { name: 'GuaranteedUpdate etcd3', at: request }, (span) => {
    let tries = 0
    return untilStored(store, context, request, () => {
      span?.event(++tries === 1 ? 'initial value restored' : 'Retry value restored')
      return tryUpdate(store, context, request, span)
    })
  })
}

/** @returns `undefined` when another writer was first. */
async function tryUpdate(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
  span: RequestSpan | undefined,
): Promise<UpdateResult | undefined> {
  const { definition, environment, objectCache, turns } = store
  const { namespace, name } = request
  const entry = isStorableName(name) ? environment.storage.peek(objectKey(definition, namespace, name)) : undefined
  if (entry === undefined) return createMissing(store, context, request)
  await objectCache.load(definition, [entry])
  const current = objectCache.get(definition, entry)
  await loadVersion(current, definition, turns)
  const stored = await runPipeline({ store, context, live: { entry, current }, request, span }, updateVerb)
  return stored === undefined ? undefined : { created: false, ...stored }
}

/** @returns `undefined` when another writer was first. */
async function createMissing(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
): Promise<UpdateResult | undefined> {
  const { definition, environment } = store
  const { namespace, name, uid = '', managesFields = false } = request
  // From 1.34 on only kinds that an update may create are compared with the uid.
  const isCompared = request.createMissing === true || !environment.features.release.atLeast('1.34')
  if (uid !== '' && isCompared) throw uidConflict(definition, { namespace, name, uid, found: undefined, dryRun: context.dryRun })
  if (request.createMissing !== true) throw ApiError.notFound(groupResource(store), name)
  const object = (await request.change(undefined)) as ApiObject
  requireVersionNumber(object.metadata.resourceVersion)
  await request.mayCreate?.()
  const missing = request.missing?.()
  try {
    const stored = await createObject(store, context, { namespace, object, managesFields, pathName: name, missing })
    return { created: true, ...stored }
  } catch (error) {
    // Another writer has created the object since: continue from that object.
    const isTaken = error instanceof ApiError && error.reason === 'AlreadyExists'
    if (isTaken && environment.storage.peek(objectKey(definition, namespace, name)) !== undefined) return undefined
    throw error
  }
}

const updateVerb: Verb<StoredState, undefined> = {
  async request({ store, context, live: { entry, current }, request }) {
    const { definition, turns } = store
    const { namespace, name, uid = '' } = request
    const { uid: found } = current.metadata
    if (uid !== '' && uid !== found) throw uidConflict(definition, { namespace, name, uid, found, dryRun: context.dryRun })
    const requested = (await request.change(current)) as ApiObject
    const pace = paceOf(turns, requested)
    const isSame = requested === current
    if (isSame && isStillValid(store, entry, current)) return { object: requested, pace, isUnchanged: true }
    const object = copyMetadata(isSame ? await mutableCopy(await presentForm(requested, definition, pace), pace) : requested)
    assignNamespace(object, namespace, definition)
    return { object, pace, isUnchanged: false }
  },

  admissionRequest({ store, context, live: { current }, request }) {
    const { name, namespace, subresource, view } = request
    const oldObject = view?.show(current) ?? current
    const kind = view === undefined ? {} : { kind: view.kind }
    const update = { operation: 'UPDATE' as const, name, namespace, subresource, oldObject, ...kind }
    return {
      attributes: admissionAttributes(store.definition, context, update),
      context: admissionContext(store, context),
    }
  },

  async admit({ store, request: { skipAdmission, view } }, requested, { attributes, context }) {
    const { admission } = store.environment
    if (skipAdmission === true) return requested
    if (view === undefined) return admission.admit(requested, attributes, context)
    const { object, oldObject } = view.requested()
    const admitted = await admission.admit(object, { ...attributes, oldObject }, context)
    return admitted === object ? requested : view.merge(requested, admitted)
  },

  checkMetadata({ store, live: { current }, request }, next) {
    checkResourceVersion(store.definition, request.name, { next, current, features: store.environment.features })
  },

  prepare(write, next, context) {
    const { store, live } = write
    carryOverMetadata(next, live.current, store.definition)
    const strategy = subresourceStrategy(write) ?? store.definition.strategy
    return strategy.prepareForUpdate?.(next, live.current, context)
  },

  validate: validateChanged,

  store: (write, draft, reservation) => writeReserved(reservation, () => writeChanged(write, draft)),

  lost: async () => undefined,
}

/** Whether the stored object needs no preparation or validation: it was stored by the strategy that is still in force. */
function isStillValid({ definition, environment, objectCache }: StoreInternals, entry: Entry, current: FrozenObject): boolean {
  if (definition.strategy.comparesWithOld === true || environment.storage.isStale?.(entry) === true) return false
  return objectCache.entryOf(entry).validatedBy === definition && !mayRemoveAfterUpdate(definition, current, current)
}

function* validateChanged(
  change: Write<StoredState>,
  next: ApiObject,
  context: Parameters<typeof validateUpdateByStrategy>[3],
): Work<readonly FieldError[]> {
  const { store, live, request } = change
  const { definition } = store
  const { current } = live
  const errors = [...(request.missing?.() ?? []), ...(yield* validateUpdatedMetadata(next, current, definition))]
  yield true
  const strategy = subresourceStrategy(change)
  const found =
    strategy === undefined
      ? validateUpdateByStrategy(next, current, definition, context)
      : validationWork(strategy.validateUpdate(next, current, context))
  const all = [...errors, ...(yield* found)]
  const write = { object: next, old: current, subresource: request.subresource }
  const complete = yield* completeByMarkers(all, definition, write)
  // Custom resources have rules of their own release.
  return definition.custom === undefined ? reportedErrors(complete, context.features) : complete
}

/** @returns `undefined` when another writer was first. */
async function writeChanged(write: Write<StoredState>, { object, pace }: Draft): Promise<Stored | undefined> {
  const { store, context, live } = write
  const { definition } = store
  const { current } = live
  const formed = await canonicalForm(store, object, pace)
  const canonical = copyMetadata(await keepTimestamps(current, formed, pace))
  if (pace.isSliced) await pace.next()
  const isRemoved = mayRemoveAfterUpdate(definition, canonical, current)
  // A dry run returns the selfLink; a stored object loses it.
  if (context.dryRun) {
    const shown = await shownByDryRun(definition, canonical, pace)
    if (pace.isSliced) await pace.next()
    return { object: shown }
  }
  dropMember(canonical.metadata, 'selfLink')
  return await (isRemoved ? removeUpdated(store, live, canonical, pace) : storeChanged(write, canonical, pace))
}

/**
 * Removes an object after the update that emptied its finalizers. The change is not stored: watchers see the stored object at the
 * version of the deletion.
 *
 * @param last the updated object, which the response shows at the version before the deletion.
 * @returns `undefined` when another writer was first.
 */
async function removeUpdated(
  store: StoreInternals,
  { entry, current }: StoredState,
  last: ApiObject,
  pace: Pace,
): Promise<Stored | undefined> {
  const removed = await removeEntry(store, entry, pace)
  if (removed === undefined) return undefined
  await store.allocations.removed(store.definition, last)
  const metadata = { ...last.metadata, resourceVersion: current.metadata.resourceVersion ?? '' }
  return { object: await frozen({ ...last, metadata }, pace) }
}

/** Stores the object, unless its encoded form equals the stored one. @returns `undefined` when another writer was first. */
async function storeChanged(write: Write<StoredState>, canonical: ApiObject, pace: Pace): Promise<Stored | undefined> {
  const { store, live, request, span } = write
  const { definition, objectCache } = store
  const { conversion } = definition
  const { entry, current } = live
  canonical.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
  // Most updates change something, and comparing values finds a difference sooner than encoding and comparing bytes.
  const mayBeSame = definition.custom !== undefined || (await haveEqualValues(canonical, current, pace))
  const memo = objectCache.entryOf(entry)
  const isValidated = subresourceStrategy(write) === undefined || memo.validatedBy === definition
  const stored = conversion === undefined ? canonical : await conversion.write(canonical, { stored: true })
  const paceOfWrite = stored === canonical ? pace : pace.for(stored)
  if (mayBeSame && (await isStoredAs(store, entry, { object: stored, pace: paceOfWrite }))) {
    if (isValidated) memo.validatedBy = definition
    return { object: current, entry }
  }
  const { managesFields = false } = request
  const converted = conversion === undefined ? {} : { stored }
  const target = { key: entry.key, object: canonical, ...converted, replaced: entry }
  return await writeEntry(store, { isValidated, managesFields, pace: paceOfWrite, ...target }, span)
}

function haveEqualValues(canonical: ApiObject, current: FrozenObject, pace: Pace): boolean | Promise<boolean> {
  const values = [canonical as unknown as JsonValue, current as unknown as JsonValue] as const
  return pace.isSliced ? pace.run(paced.equalValues(...values)) : equalValues(...values)
}
