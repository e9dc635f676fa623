import type { AdmissionAttributes, AdmissionContext, Reservation } from '@krmkit/admission'
import type { RequestSpan } from '@krmkit/base/tracing'
import { type Pace, startWork, type Work } from '@krmkit/base/work'
import type { Preparation, StrategyContext, SubresourceStrategy } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError, parseApiVersion } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { requirePathSegmentName } from '@krmkit/meta/names'
import { copyJson } from '@krmkit/schema/json'
import type { Entry } from '@krmkit/storage'
import type { Grants } from '../allocations.ts'
import type { FrozenObject, Stored, StoredUpdate, WriteContext } from '../interfaces.ts'
import { groupResource, type StoredState, type StoreInternals } from '../internals.ts'
import { isStorableName, objectKey } from '../keys.ts'
import { trackOwnership } from '../ownership/field-ownership.ts'
import { mutableCopy } from '../versions/canonical-form.ts'
import { storedDefinition } from '../versions/version-conversion.ts'
import { restoreAdmittedMetadata } from './admission.ts'
import { fromLocalState, fromNewestWhenRefused } from './local-state.ts'
import { assignNamespace, copyMetadata, generatedName, optimisticLockMessage, strategyContext } from './metadata.ts'

/**
 * The order of the stages of a write:
 *
 *     own --> admit --> guard --> prepare --> allocate --> validate --> canonicalise --> judge --> store
 *                                    ^------------ the generated name is taken -------------------'
 *
 * When another writer was first, the write ends without a result, and {@link untilStored} begins again from the newest state.
 */

/** One attempt of a write. */
export interface Write<Live extends StoredState | undefined = StoredState | undefined> {
  readonly store: StoreInternals
  readonly context: WriteContext
  /** The stored state that the write changes; `undefined` for a creation. */
  readonly live: Live
  /** The change and the addressed object. The name is the one in the path: empty for POST. */
  readonly request: StoredUpdate
  readonly span: RequestSpan | undefined
}

/** The object that the stages of a write pass on and mutate. */
export interface Draft {
  readonly object: ApiObject
  readonly pace: Pace
}

/** The object that a request asks for. */
export interface Requested extends Draft {
  /** Whether `object` is the stored object itself, which its strategy need not prepare and validate again. Stages must not mutate it. */
  readonly isUnchanged: boolean
}

/** The attributes and context that admission plugins get with each object of a write. */
export interface AdmissionRequest {
  readonly attributes: AdmissionAttributes
  readonly context: AdmissionContext
}

/** The stages in which a creation and an update differ. */
export interface Verb<Live extends StoredState | undefined, Lost, Request extends AdmissionRequest = AdmissionRequest> {
  /** Calls the change of the request. */
  request(write: Write<Live>): Promise<Requested>
  admissionRequest(write: Write<Live>, requested: ApiObject): Request
  admit(write: Write<Live>, requested: ApiObject, admission: Request): Promise<ApiObject>
  /** Corrects and checks the metadata that the request sets. Mutates the object. */
  checkMetadata(write: Write<Live>, object: ApiObject): void
  /** Sets metadata and the fields that clients cannot choose. Mutates the object. */
  prepare(write: Write<Live>, object: ApiObject, context: StrategyContext): Preparation
  validate(write: Write<Live>, object: ApiObject, context: StrategyContext): Work<readonly FieldError[]>
  /** Stores the object; a dry run only builds the result. @returns `undefined` when another writer was first. */
  store(write: Write<Live>, draft: Draft, reservation: Reservation | undefined): Promise<Stored | undefined>
  /** The outcome when another writer was first. */
  lost(write: Write<Live>, object: ApiObject): Promise<Lost>
}

/**
 * Runs the stages of a write in order.
 *
 * @throws ApiError 400, 403 (admission), 409 (another version or uid, taken name), 413, 422 (invalid)
 */
export async function runPipeline<Live extends StoredState | undefined, Lost, Request extends AdmissionRequest>(
  write: Write<Live>,
  verb: Verb<Live, Lost, Request>,
): Promise<Stored | Lost> {
  const { store, context, live } = write
  const requested = await verb.request(write)
  await own(write, requested)
  if (requested.pace.isSliced) await requested.pace.next()
  traceRequested(context, requested.object)

  const admission = verb.admissionRequest(write, requested.object)
  const admittedObject = await verb.admit(write, requested.object, admission)
  if (requested.isUnchanged && admittedObject === requested.object) return keepUnchanged(write, requested.object, admission)
  const admitted = await restoreMetadata(write, requested, admittedObject)

  await guard(write, admitted)
  verb.checkMetadata(write, admitted.object)

  const strategyRequest = strategyRequestOf(write)
  const generateName = generatedPrefix(write, admitted)
  const attempts = nameAttempts(write, generateName)
  for (let attempt = 1; ; attempt++) {
    const draft = generateName === '' ? admitted : await named(write, admitted, { generateName, attempts })
    const stored = await withGrants(write, async (grants) => {
      await run(draft, verb.prepare(write, draft.object, strategyRequest))
      if (grants !== undefined) await allocate(write, draft, strategyRequest, grants)
      await store.definition.strategy.ready?.(draft.object, live?.current)
      if (store.definition.markerRules !== undefined) await store.definition.markerRules.load()
      refuse(write, draft, await draft.pace.run(verb.validate(write, draft.object, strategyRequest)))
      await run(draft, store.definition.strategy.canonicalize?.(draft.object, strategyRequest))
      addWarnings(write, draft, strategyRequest)
      if (draft.pace.isSliced) await draft.pace.next()
      const reservation = await judge(write, draft, admission)
      return verb.store(write, draft, reservation)
    })
    if (stored !== undefined) {
      // A removed object has no entry.
      traceWritten(context, live?.current, stored.entry === undefined ? undefined : stored.object)
      return stored
    }
    if (attempt === attempts) return verb.lost(write, draft.object)
  }
}

/** The strategy of the addressed subresource; `undefined` for the resource itself, and for subresources without a strategy. */
export function subresourceStrategy({ store, request }: Write): SubresourceStrategy<ApiObject> | undefined {
  const { subresource } = request
  return subresource === '' ? undefined : store.definition.strategy.subresources?.[subresource]
}

/** Records the field owners of the requested object. */
function own({ store, context, live, request }: Write, { object, pace, isUnchanged }: Requested): Promise<void> | undefined {
  if (isUnchanged || request.managesFields === true) return undefined
  const { subresource } = request
  if (live === undefined) return trackOwnership(store, context, { live: undefined, next: object, subresource, pace })
  const { entry, current } = live
  return trackOwnership(store, context, {
    live: current,
    next: object,
    subresource,
    pace: entry.value.byteLength > smallObjectBytes ? pace.for(current) : pace,
    hasOldDefinition: store.objectCache.entryOf(entry).validatedBy !== store.definition,
  })
}

/** Objects of fewer bytes are not large: each value takes at least two bytes with its comma. */
const smallObjectBytes = 4000

/** Handles an update that changes nothing, such as most applies of controllers: only warnings and validating admission run. */
async function keepUnchanged(write: Write, current: ApiObject, admission: AdmissionRequest): Promise<Stored> {
  const { store, context, live } = write
  const strategyRequest = strategyContext(store, context)
  const { warnings } = store.definition.strategy
  for (const text of warnings?.(current, current, strategyRequest) ?? []) context.warn(text)
  const reservation = await store.environment.admission.validate(current, admission.attributes, admission.context)
  await (context.dryRun ? reservation?.rollback() : reservation?.commit())
  traceWritten(context, current as FrozenObject, current as FrozenObject)
  return context.dryRun || live === undefined ? { object: current } : { object: current, entry: live.entry }
}

/** Restores metadata that mutating admission must not change. Copies metadata that other objects share. */
async function restoreMetadata(
  { store, context, live, request }: Write,
  requested: Requested,
  admitted: ApiObject,
): Promise<Draft> {
  const isSame = admitted === requested.object
  const pace = isSame ? requested.pace : requested.pace.for(admitted)
  const mutable = requested.isUnchanged ? await mutableCopy(admitted, pace) : admitted
  const object = isSame && live === undefined ? admitted : copyMetadata(mutable)
  await startWork(restoreAdmittedMetadata(object, requested.object, context), store.turns)
  if (!isSame) assignNamespace(object, request.namespace, store.definition)
  return { object, pace }
}

/** Refuses writes that would escalate the rights of the user. */
function guard({ store, context, live, request }: Write, { object }: Draft): Promise<void> | undefined {
  const { definition, environment } = store
  const { namespace, name } = request
  const { guard } = environment
  if (guard?.covers(definition) !== true) return undefined
  const guarded = { definition, user: context.user, namespace, name, object: object as FrozenObject }
  // A refused update begins again from the newest state, so its guard runs only once here.
  if (live !== undefined) return guard.check({ ...guarded, oldObject: live.current })
  return fromNewestWhenRefused(environment.storage, async () => guard.check(guarded))
}

function strategyRequestOf({ store, context, request: { subresource } }: Write): StrategyContext {
  const strategyRequest = strategyContext(store, context)
  return subresource === '' ? strategyRequest : { subresource, ...strategyRequest }
}

/** Maximum number of generated names to try. */
const generatedNameAttempts = 8

/** The generateName of a new object without a name; otherwise empty. Mutating webhooks may set the name or change the prefix. */
function generatedPrefix({ live }: Write, { object: { metadata } }: Draft): string {
  return live === undefined && (metadata.name ?? '') === '' ? (metadata.generateName ?? '') : ''
}

function nameAttempts({ store }: Write, generateName: string): number {
  return generateName !== '' && gateEnabled('RetryGenerateName', store.environment.features) ? generatedNameAttempts : 1
}

/**
 * Gives a copy of the object a generated name. Each attempt gets its own copy, because later stages set fields that depend on the name and
 * uid.
 */
async function named(
  { store }: Write,
  { object, pace }: Draft,
  { generateName, attempts }: { readonly generateName: string; readonly attempts: number },
): Promise<Draft> {
  const copy = attempts > 1 ? await mutableCopy(object, pace) : object
  copy.metadata.name = generatedName(generateName, store.environment)
  return { object: copy, pace }
}

/** Runs the rest of a write in the order and with the grants of the allocator of its kind. */
function withGrants<T>({ store }: Write, write: (grants: Grants | undefined) => Promise<T | undefined>): Promise<T | undefined> {
  const { definition, allocations } = store
  return definition.strategy.createAllocator === undefined ? write(undefined) : allocations.run(definition, write)
}

/** Assigns the values that no two objects may share. Writes of subresources assign none. */
async function allocate(write: Write, draft: Draft, context: StrategyContext, grants: Grants): Promise<void> {
  if (subresourceStrategy(write) !== undefined) return
  refuse(write, draft, await grants.allocate(draft.object, write.live?.current, context))
}

/** Runs the work of a strategy, where it returned some. */
function run({ pace }: Draft, work: Preparation): Promise<void> | void {
  return work === undefined ? undefined : pace.run(work)
}

/** @throws ApiError 422 */
function refuse({ store, context }: Write, { object }: Draft, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const { statedType } = context
  // Errors name the kind of the storage version, whatever version the request uses, unless the body states another kind.
  const stored = storedDefinition(store).kind
  const { kind } = statedType ?? stored
  const { group } = statedType === undefined ? stored : parseApiVersion(statedType.apiVersion)
  throw ApiError.invalid({ group, kind }, object.metadata.name ?? '', errors, store.environment.features)
}

function addWarnings(write: Write, { object }: Draft, strategyRequest: StrategyContext): void {
  const { store, context, live } = write
  const subresource = subresourceStrategy(write)
  const texts =
    subresource === undefined || live === undefined
      ? store.definition.strategy.warnings?.(object, live?.current, strategyRequest)
      : subresource.warnings?.(object, live.current, strategyRequest)
  for (const text of texts ?? []) context.warn(text)
}

/** Runs validating admission on the object or on its view. */
function judge(
  { store, request }: Write,
  { object }: Draft,
  { attributes, context }: AdmissionRequest,
): Promise<Reservation | undefined> | undefined {
  if (request.skipAdmission === true) return undefined
  // Validating plugins see the generated name.
  const named = attributes.name === '' ? { ...attributes, name: object.metadata.name ?? '' } : attributes
  return store.environment.admission.validate(request.view?.show(object) ?? object, named, context)
}

/** Maximum number of attempts to change an object that other writers change too. After these attempts the request fails with a conflict. */
const maxAttempts = 100

interface Target {
  readonly namespace: string
  readonly name: string
}

/**
 * Changes a stored object, beginning with the local state where the storage has other writers. Repeats the attempt from the newest state
 * when another writer was first.
 *
 * @param attempt returns `undefined` when another writer was first.
 * @throws ApiError 400 for a name that no object can have, 409 after too many attempts
 */
export async function untilStored<T extends { readonly entry?: Entry }>(
  store: StoreInternals,
  context: WriteContext,
  target: Target,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  requirePathSegmentName(target.name)
  const { storage } = store.environment
  if (storage.refresh !== undefined) {
    if (context.dryRun || !isStorableName(target.name)) await storage.refresh()
    else {
      const result = await fromLocalState(storage, objectKey(store.definition, target.namespace, target.name), attempt)
      if (result !== undefined) return result
    }
  }
  return await retryLostRaces(store, context, target, attempt)
}

/** Repeats an attempt when another writer was first, in turn with other writers of the object. @throws ApiError 409 after too many attempts */
export async function retryLostRaces<T>(
  store: StoreInternals,
  context: Pick<WriteContext, 'signal'>,
  { namespace, name }: Target,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  let unlock: (() => void) | undefined
  try {
    for (let attempts = 1; ; attempts++) {
      const result = await attempt()
      if (result !== undefined) return result
      // Read the signal only here, because adapters create it on first access.
      if (context.signal.aborted || attempts === maxAttempts)
        throw ApiError.conflict(groupResource(store), name, optimisticLockMessage)
      unlock ??= await store.keyedMutex.lock(objectKey(store.definition, namespace, name))
    }
  } finally {
    unlock?.()
  }
}

/** Traces a copy of the requested object, because later stages mutate the object. */
function traceRequested({ trace, fieldManager }: WriteContext, object: ApiObject): void {
  if (trace === undefined) return
  const { managedFields: _, ...metadata } = object.metadata
  trace({ step: 'requested', manager: fieldManager, object: copyJson({ ...object, metadata }) as FrozenObject })
}

/** Traces a write. A dry run writes nothing. */
export function traceWritten(
  { trace, dryRun }: WriteContext,
  before: FrozenObject | undefined,
  after: FrozenObject | undefined,
): void {
  if (trace !== undefined && !dryRun) trace({ step: 'written', before, after })
}
