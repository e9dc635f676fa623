import { equalValues, equalValuesSteps } from '@krmkit/fieldmanager/value'
import { type ResourceDefinition, type StrategyContext, type SubresourceStrategy, validationSteps } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError, type JsonValue } from '@krmkit/meta'
import { equalBytes } from '@krmkit/meta/bytes'
import { requirePathSegmentName } from '@krmkit/meta/names'
import type { RequestSpan } from '@krmkit/meta/tracing'
import { isLargeValue, startWork, type Work } from '@krmkit/meta/work'
import type { FrozenObject, Stored, StoredUpdate, UpdateResult, WriteContext } from '../interfaces.ts'
import { groupResource, type StoredState, type StoreInternals } from '../internals.ts'
import { isStorableName, objectKey } from '../keys.ts'
import { settleOwnership, settleOwnershipSteps, trackOwnership } from '../ownership/field-ownership.ts'
import { waitForNewest } from '../read/resource-version.ts'
import { canonicalForm, shownByDryRun } from '../versions/canonical-form.ts'
import { loadVersion } from '../versions/version-conversion.ts'
import { admissionContext, admittedUpdate, mendAdmitted, updateAttributes, writeReserved } from './admission.ts'
import type { Grants } from './allocations.ts'
import { createObject } from './create.ts'
import { mayRemoveAfterUpdate } from './deletion.ts'
import { removeUpdated } from './deletion-writes.ts'
import { fromLocalState } from './local-state.ts'
import {
  carryOverMetadata,
  dropMember,
  ownMetadata,
  strategyContext,
  takeNamespace,
  validateUpdateByStrategy,
  validateUpdatedMetadata,
} from './metadata.ts'
import { encodePrinted, printSteps } from './object-size.ts'
import { prepareAndValidate } from './prepare.ts'
import { mutableCopy, stagesAfter, stagesOf } from './stages.ts'
import { uidConflict } from './uid-conflict.ts'
import { isSettled, keepUnchanged } from './unchanged.ts'
import { optimisticLockMessage, requireNumber, settleVersion } from './update-version.ts'
import { type EntryWrite, writeEntry } from './write-entry.ts'
import { inWriteSpan } from './write-span.ts'
import { traceRequested, traceWritten } from './write-trace.ts'

/** Attempts to change an object that other writers change too, each from its newest state; then the request fails with a conflict. */
const updateAttempts = 100

/** Objects of fewer bytes are not large: the text of a value has at least two bytes, with its comma. */
const fewBytes = 4000

/**
 * Changes an object, or creates it where the request allows. Runs the change again from the newest state when another writer was
 * first.
 *
 * @returns the stored object; an unchanged one keeps its resourceVersion.
 * @throws ApiError 404, 409 (lost race with a given resourceVersion, or another uid), 422 (invalid).
 */
export function updateObject(store: StoreInternals, context: WriteContext, request: StoredUpdate): Promise<UpdateResult> {
  return inWriteSpan(store, context.span, { name: 'GuaranteedUpdate etcd3', at: request }, (span) =>
    updateWithRetries(store, context, request, span),
  )
}

async function updateWithRetries(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
  span: RequestSpan | undefined,
): Promise<UpdateResult> {
  requirePathSegmentName(request.name)
  const { storage } = store.environment
  const key = objectKey(store.definition, request.namespace, request.name)
  let unlock: (() => void) | undefined
  let tries = 0
  const tryOnce = () => {
    span?.event(++tries === 1 ? 'initial value restored' : 'Retry value restored')
    return tryUpdate(store, context, request, { key, span })
  }
  if (storage.refresh !== undefined) {
    if (context.dryRun || !isStorableName(request.name)) await waitForNewest(storage)
    else {
      const updated = await fromLocalState(storage, key, tryOnce)
      if (updated !== undefined) return updated
    }
  }
  try {
    for (let attempt = 1; ; attempt++) {
      const result = await tryOnce()
      if (result !== undefined) return result
      if (context.signal.aborted || attempt === updateAttempts) {
        throw ApiError.conflict(groupResource(store), request.name, optimisticLockMessage)
      }
      unlock ??= await store.keyedMutex.lock(key)
    }
  } finally {
    unlock?.()
  }
}

/** @returns `undefined` when another writer was first. */
async function tryUpdate(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
  { key, span }: { readonly key: string; readonly span: RequestSpan | undefined },
): Promise<UpdateResult | undefined> {
  const { definition, objectCache } = store
  const entry = isStorableName(request.name) ? store.environment.storage.peek(key) : undefined
  if (entry === undefined) return createMissing(store, context, request, key)
  const loading = objectCache.load(definition, [entry])
  if (loading !== undefined) await loading
  const current = objectCache.seen(definition, entry)
  const converting = loadVersion(current, definition, store.turns)
  if (converting !== undefined) await converting
  const result = await store.allocations.run(definition, (grants) =>
    updateOnce(store, context, request, { entry, current, grants, span }),
  )
  if (result === undefined) return undefined
  // A removed object has no entry.
  traceWritten(context, current, result.entry === undefined ? undefined : result.object)
  return { created: false, ...result }
}

async function createMissing(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
  key: string,
): Promise<UpdateResult | undefined> {
  if ((request.uid ?? '') !== '') throw otherUid(store, context, request, undefined)
  if (request.createMissing !== true) throw ApiError.notFound(groupResource(store), request.name)
  const object = (await request.change(undefined)) as ApiObject
  requireNumber(object.metadata.resourceVersion)
  await request.mayCreate?.()
  const { namespace, name, managesFields = false } = request
  const missing = request.missing?.()
  try {
    const stored = await createObject(store, context, { namespace, object, managesFields, pathName: name, missing })
    return { created: true, ...stored }
  } catch (error) {
    // Another writer has created it since: continue from that object.
    const isTaken = error instanceof ApiError && error.reason === 'AlreadyExists'
    if (isTaken && store.environment.storage.peek(key) !== undefined) return undefined
    throw error
  }
}

function otherUid(
  { definition }: StoreInternals,
  { dryRun }: WriteContext,
  { namespace, name, uid = '' }: StoredUpdate,
  found: string | undefined,
): ApiError {
  return uidConflict(definition, { namespace, name, uid, found, dryRun })
}

/** @returns `undefined` when another writer was first and the change may run again. */
async function updateOnce(
  store: StoreInternals,
  context: WriteContext,
  request: StoredUpdate,
  { entry, current, grants, span }: StoredState & { readonly grants: Grants | undefined; readonly span: RequestSpan | undefined },
): Promise<Stored | undefined> {
  const { definition, environment } = store
  const { namespace, name, subresource, managesFields = false, uid = '' } = request
  if (uid !== '' && uid !== current.metadata.uid) throw otherUid(store, context, request, current.metadata.uid)
  const given = (await request.change(current)) as ApiObject
  const same = given === current
  const unchanged = same && isSettled(store, entry, current)
  const asked = stagesOf(store, given)
  const changed = unchanged ? given : ownMetadata(same ? await mutableCopy(given, asked) : given)
  if (!unchanged) takeNamespace(changed, namespace, definition)
  if (!managesFields && !unchanged) {
    const large = asked !== undefined || (entry.value.byteLength > fewBytes && isLargeValue(current))
    const unsettled = store.objectCache.entryOf(entry).settledBy !== definition
    const tracking = trackOwnership(store, context, { live: current, next: changed, subresource, large, unsettled })
    if (tracking !== undefined) await tracking
  }
  if (asked !== undefined) await asked.next()
  if (context.trace !== undefined) traceRequested(context, changed)
  const attributes = updateAttributes(definition, context, request, current)
  const admission = admissionContext(store, context)
  const skips = request.skipAdmission === true
  const admitted = skips ? changed : await admittedUpdate(store, request, changed, attributes, admission)
  if (unchanged && admitted === changed) return keepUnchanged(store, context, { entry, current, attributes, admission })
  const stages = admitted === changed ? asked : stagesAfter(store, asked, admitted)
  const next = ownMetadata(unchanged ? await mutableCopy(admitted, stages) : admitted)
  const mending = startWork(mendAdmitted(next, changed, context), store.turns)
  if (mending !== undefined) await mending
  if (admitted !== changed) takeNamespace(next, namespace, definition)
  const { guard } = environment
  if (guard?.covers(definition) === true) {
    await guard.check({ definition, user: context.user, namespace, name, object: next as FrozenObject, oldObject: current })
  }
  settleVersion(definition, name, { next, current })
  const strategy = subresource === '' ? undefined : definition.strategy.subresources?.[subresource]
  const own = strategyContext(store, context)
  const about = subresource === '' ? own : { subresource, ...own }
  const rules = strategy ?? definition.strategy
  const whole = strategy === undefined
  const preparing = prepareAndValidate(store, {
    object: next,
    old: current,
    name: () => next.metadata.name ?? '',
    about,
    stages,
    grants: whole ? grants : undefined,
    prepare() {
      carryOverMetadata(next, current, definition)
      return rules.prepareForUpdate?.(next, current, about)
    },
    canonicalize: () => definition.strategy.canonicalize?.(next, about),
    validate: () => validateChanged({ next, current, definition, strategy, about, missing: request.missing?.() }),
  })
  if (preparing !== undefined) await preparing
  for (const text of rules.warnings?.(next, current, about) ?? []) context.warn(text)
  if (stages !== undefined) await stages.next()
  const judged = skips ? undefined : (request.view?.show(next) ?? next)
  const reservation = judged === undefined ? undefined : await environment.admission.validate(judged, attributes, admission)
  return writeReserved(reservation, () =>
    writeUpdate(store, context, { next, current, entry, whole, managesFields, stages, span }),
  )
}

interface ChangedObject {
  readonly next: ApiObject
  readonly current: FrozenObject
  readonly definition: ResourceDefinition
  /** Of the subresource. */
  readonly strategy: SubresourceStrategy<ApiObject> | undefined
  readonly about: StrategyContext
  readonly missing: readonly FieldError[] | undefined
}

function* validateChanged(change: ChangedObject): Work<readonly FieldError[]> {
  const { next, current, definition, strategy, about, missing = [] } = change
  const errors = [...missing, ...(yield* validateUpdatedMetadata(next, current, definition))]
  yield true
  const own =
    strategy === undefined
      ? validateUpdateByStrategy(next, current, definition, about)
      : validationSteps(strategy.validateUpdate(next, current, about))
  return [...errors, ...(yield* own)]
}

interface UpdateWrite extends StoredState, Pick<EntryWrite, 'managesFields' | 'stages'> {
  readonly next: ApiObject
  /** The strategy of the kind ran, not that of a subresource. */
  readonly whole: boolean
  readonly span: RequestSpan | undefined
}

async function writeUpdate(
  store: StoreInternals,
  context: WriteContext,
  { next, current, entry, whole, managesFields, stages, span }: UpdateWrite,
): Promise<Stored | undefined> {
  const { definition, objectCache } = store
  const forming = canonicalForm(store, next, stages)
  const formed = forming instanceof Promise ? await forming : forming
  const canonical = ownMetadata(
    stages === undefined ? settleOwnership(current, formed) : await stages.run(settleOwnershipSteps(current, formed)),
  )
  if (stages !== undefined) await stages.next()
  const removing = mayRemoveAfterUpdate(definition, canonical, current)
  // Only what is stored loses the link.
  if (context.dryRun) {
    const shown = await shownByDryRun(definition, canonical, stages)
    if (stages !== undefined) await stages.next()
    return { object: shown }
  }
  dropMember(canonical.metadata, 'selfLink')
  if (removing) return removeUpdated(store, { last: canonical, current, entry, stages })
  canonical.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
  // Most updates change something, which a comparison of values finds sooner than one of bytes.
  const values = [canonical as unknown as JsonValue, current as unknown as JsonValue] as const
  const mayBeSame =
    definition.custom !== undefined ||
    (stages === undefined ? equalValues(...values) : await stages.run(equalValuesSteps(...values)))
  const memo = objectCache.entryOf(entry)
  const settled = whole || memo.settledBy === definition
  const kept = definition.conversion === undefined ? canonical : await definition.conversion.write(canonical, { stored: true })
  const writing = kept === canonical ? stages : stagesAfter(store, stages, kept)
  const printed = mayBeSame ? await writing?.run(printSteps(kept)) : undefined
  const isStale = store.environment.storage.isStale?.(entry) === true
  if (mayBeSame && !isStale && equalBytes(encodePrinted(kept, printed), entry.value)) {
    if (settled) memo.settledBy = definition
    return { object: current, entry }
  }
  const stored = definition.conversion === undefined ? undefined : kept
  const write = { key: entry.key, object: canonical, stored, replaced: entry, settled, managesFields, stages: writing }
  return writeEntry(store, write, span)
}
