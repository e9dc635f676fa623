import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, field, formatTime, type NamingProfile, Path, parseTime, stockProfile } from '@krmkit/meta'
import { goStrings } from '@krmkit/meta/go-text'
import { requirePathSegmentName } from '@krmkit/meta/names'
import { deepFreeze } from '@krmkit/meta/work'
import { normalize } from '@krmkit/schema'
import { normalizeSteps } from '@krmkit/schema/decode'
import type { DeleteRequest, DeleteRequestOptions, DeleteResult, FrozenObject, WriteContext } from '../interfaces.ts'
import { groupResource, type StoredState, type StoreInternals, storedType } from '../internals.ts'
import { isStorableName, objectKey } from '../keys.ts'
import { waitForNewest } from '../read/resource-version.ts'
import { frozen } from '../versions/canonical-form.ts'
import { admissionAttributes, admissionContext } from './admission.ts'
import { markTerminating, removeEntry } from './deletion-writes.ts'
import { fromLocalState } from './local-state.ts'
import { ownMetadata, strategyContext } from './metadata.ts'
import { mutableCopy, type Stages, stagesOf } from './stages.ts'
import { traceWritten } from './write-trace.ts'

/**
 * The deletion of an object.
 *
 *     live --delete, nothing holds it--> gone; kinds with grace periods are terminating in between
 *     live --delete, finalizers or grace period--> terminating --last finalizer removed, grace period over--> gone
 *
 * @see API protocol specification, 3
 */

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** Whether an update removes a terminating object: it has emptied the finalizers and no grace period is left. */
export function mayRemoveAfterUpdate(definition: ResourceDefinition, next: FrozenObject, current: FrozenObject): boolean {
  if (current.metadata.deletionTimestamp === undefined || (next.metadata.finalizers ?? []).length > 0) return false
  const { strategy } = definition
  if (strategy.pendingFinalizers !== undefined) return strategy.pendingFinalizers(next).length === 0
  return (current.metadata.deletionGracePeriodSeconds ?? 0) === 0
}

/**
 * Validates the options of a DELETE request.
 *
 * @throws ApiError 422 for contradictory options and unknown values.
 * @example
 * import { validateDeleteOptions } from '@krmkit/registry'
 * validateDeleteOptions({ propagationPolicy: 'Background' }) // undefined
 * validateDeleteOptions({ propagationPolicy: 'Background', orphanDependents: true }) // throws
 */
export function validateDeleteOptions(options: DeleteRequestOptions, { apiDomain }: NamingProfile = stockProfile): void {
  const errors = []
  const { propagationPolicy, orphanDependents, dryRun } = options
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(
      field.invalid(
        Path.of('propagationPolicy'),
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  }
  if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(
      field.notSupported(Path.of('propagationPolicy'), propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    )
  }
  errors.push(...validateDryRun(dryRun ?? []))
  if (errors.length > 0) throw ApiError.invalid({ group: `meta.${apiDomain}`, kind: 'DeleteOptions' }, '', errors)
}

/**
 * Validates the `dryRun` values of a write. The error shows the whole list in the notation of Go.
 *
 * @example
 * import { validateDryRun } from '@krmkit/registry'
 * validateDryRun(['All']) // []
 * validateDryRun(['Some'])[0]?.message // 'Unsupported value: []string{"Some"}: supported values: "All"'
 */
export function validateDryRun(dryRun: readonly string[]): ReturnType<typeof field.notSupported>[] {
  if (dryRun.every((word) => word === 'All')) return []
  const printed = goStrings(dryRun)
  return [
    { field: 'dryRun', reason: 'FieldValueNotSupported', message: `Unsupported value: ${printed}: supported values: "All"` },
  ]
}

/**
 * Deletes an object, or marks it as terminating when finalizers or a grace period hold it.
 *
 * @throws ApiError 404, 409 (preconditions), 422 (options).
 */
export async function deleteObject(
  store: StoreInternals,
  context: WriteContext,
  { namespace, name, options, collective = false, skipAdmission = false }: DeleteRequest,
): Promise<DeleteResult> {
  const { definition, environment, objectCache } = store
  validateDeleteOptions(options, environment.profile)
  if (!collective) warnOfPropagation(definition, options, context)
  requirePathSegmentName(name)
  const key = objectKey(definition, namespace, name)
  const request = { operation: 'DELETE' as const, name: collective ? '' : name, namespace, options }
  const admission = admissionContext(store, context)
  let { preconditions } = options
  let marked: DeleteResult | undefined
  const step = async (): Promise<DeleteResult | undefined> => {
    const entry = isStorableName(name) ? environment.storage.peek(key) : undefined
    if (entry === undefined) {
      // Another deletion has done the second half.
      if (marked !== undefined) return { ...marked, removed: true }
      throw ApiError.notFound(groupResource(store), name)
    }
    const current = await objectCache.read(definition, entry)
    checkPreconditions(definition, current, preconditions)
    const attributes = admissionAttributes(definition, context, { ...request, oldObject: current })
    if (!skipAdmission) {
      await environment.admission.admit(undefined, attributes, admission)
      await environment.admission.validate(undefined, attributes, admission)
    }
    const result = await deleteOnce(store, context, options, { entry, current })
    if (result !== undefined) traceWritten(context, current, result.removed ? undefined : result.object)
    return result
  }
  let result: DeleteResult | undefined
  if (environment.storage.refresh !== undefined) {
    if (context.dryRun || !isStorableName(name)) await waitForNewest(environment.storage)
    else result = await fromLocalState(environment.storage, key, step)
  }
  for (;;) {
    result ??= await step()
    if (result === undefined) continue
    if (result.removed || isHeld(definition, result.object)) return result
    // The mark was only the first half. A condition on the version was on the state before it.
    marked = result
    result = undefined
    const { resourceVersion = '' } = marked.object.metadata
    if (preconditions?.resourceVersion !== undefined) preconditions = { ...preconditions, resourceVersion }
  }
}

/** Whether a marked object waits for its finalizers or the end of its grace period. */
function isHeld({ strategy }: ResourceDefinition, { metadata }: FrozenObject): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata
  return strategy.pendingFinalizers !== undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0
}

/** Warns when a deletion, even of a missing object, relies on the default propagation of a kind that has an unusual one. */
export function warnOfPropagation(
  { strategy: { defaultPropagationWarning } }: ResourceDefinition,
  { propagationPolicy, orphanDependents }: DeleteRequestOptions,
  { warn }: Pick<WriteContext, 'warn'>,
): void {
  if (defaultPropagationWarning === undefined || propagationPolicy !== undefined || orphanDependents !== undefined) return
  warn(defaultPropagationWarning)
}

/** @returns `undefined` when another writer was first. */
async function deleteOnce(
  store: StoreInternals,
  context: WriteContext,
  options: DeleteRequestOptions,
  { entry, current }: StoredState,
): Promise<DeleteResult | undefined> {
  const { definition } = store
  const stages = stagesOf(store, current)
  const about = strategyContext(store, context)
  const next = isMarkedByStrategy(definition, current)
    ? markedByStrategy(definition, await mutableCopy(current, stages), options, about)
    : deletionStep(definition, current, options, about)
  if (next === 'pending') return { object: current, entry, removed: false }
  if (next === 'now') {
    return context.dryRun ? { object: current, entry, removed: true } : removeNow(store, { entry, current }, stages)
  }
  const type = storedType(store)
  const canonical = (stages === undefined ? normalize(type, next) : await stages.run(normalizeSteps(type, next))) as ApiObject
  if (!context.dryRun) return markTerminating(store, { entry, canonical, stages })
  return { object: await frozen(canonical, stages), removed: !isHeld(definition, canonical) }
}

async function removeNow(
  store: StoreInternals,
  { entry, current }: StoredState,
  stages: Stages,
): Promise<DeleteResult | undefined> {
  const { definition } = store
  const removed = await removeEntry(store, entry, stages)
  if (removed === undefined) return undefined
  await store.allocations.removed(definition, removed.object)
  return definition.conversion === undefined
    ? { ...removed, removed: true }
    : { object: shownLast(current, removed.object), removed: true }
}

/** The removed object in the version of the request. */
function shownLast(current: FrozenObject, { metadata }: ApiObject): FrozenObject {
  return deepFreeze({ ...current, metadata: { ...current.metadata, resourceVersion: metadata.resourceVersion ?? '' } })
}

/**
 * Checks that a deletion means this object.
 *
 * @throws ApiError 409 when it has another uid or resourceVersion.
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { checkPreconditions } from '@krmkit/registry'
 * const configMaps = createCatalog().resource({ group: '', version: 'v1', resource: 'configmaps' })!
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', uid: '9c1e' } }
 * checkPreconditions(configMaps, object, { uid: '9c1e' }) // undefined; another uid would throw
 */
export function checkPreconditions(
  { kind, resource, storage, strategy }: ResourceDefinition,
  { metadata }: FrozenObject,
  { uid, resourceVersion }: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } = {},
): void {
  const check = (what: 'UID' | 'ResourceVersion', expected: string | undefined, actual: string | undefined) => {
    if (expected === undefined || expected === actual) return
    const name = metadata.name ?? ''
    if (strategy.beginDeletion !== undefined) {
      const problem = `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${actual}`
      throw ApiError.conflict({ group: kind.group, resource: resource.name }, name, problem)
    }
    const happened = what === 'UID' ? 'been deleted and then recreated' : 'been modified'
    const problem = `the ${what} in the precondition (${expected}) does not match the ${what} in record (${actual}). The object might have ${happened}`
    // The stock server names the kind here, in the group in which it is stored, where every other conflict names the resource.
    throw ApiError.conflict({ group: storage.group, resource: kind.kind }, name, problem)
  }
  check('UID', uid, metadata.uid)
  check('ResourceVersion', resourceVersion, metadata.resourceVersion)
}

/** The next step of a deletion: the marked object, `now` when it can go at once, or `pending` when nothing changes. */
function deletionStep(
  definition: ResourceDefinition,
  current: FrozenObject,
  options: DeleteRequestOptions,
  context: StrategyContext,
): ApiObject | 'now' | 'pending' {
  const { strategy } = definition
  if ((strategy.pendingFinalizers?.(current) ?? []).length > 0) return 'pending'
  return terminatingObject(definition, current, options, context.clock.now())
}

function isMarkedByStrategy({ strategy }: ResourceDefinition, { metadata }: FrozenObject): boolean {
  return strategy.beginDeletion !== undefined && metadata.deletionTimestamp === undefined
}

function markedByStrategy(
  { strategy }: ResourceDefinition,
  draft: FrozenObject,
  options: DeleteRequestOptions,
  context: StrategyContext,
): ApiObject {
  const next = draft as ApiObject
  next.metadata.deletionTimestamp = formatTime(context.clock.now())
  strategy.beginDeletion?.(next, context)
  if (strategy.pendingFinalizers !== undefined) chooseDependents(next, options)
  return next
}

/** The finalizers of garbage collection of a kind with `pendingFinalizers`; `orphanDependents: false` waits for dependents. */
function chooseDependents({ metadata }: ApiObject, { orphanDependents, propagationPolicy }: DeleteRequestOptions): void {
  if (orphanDependents === undefined && propagationPolicy === undefined) return
  const orphans = orphanDependents ?? propagationPolicy === 'Orphan'
  const waits = orphanDependents === undefined ? propagationPolicy === 'Foreground' : !orphanDependents
  const present = metadata.finalizers ?? []
  const wanted = [...(orphans ? [orphanFinalizer] : []), ...(waits ? [foregroundFinalizer] : [])]
  const others = present.filter((each) => each !== orphanFinalizer && each !== foregroundFinalizer)
  const next = [...others, ...wanted]
  if (sameList(next, present)) return
  if (next.length > 0) metadata.finalizers = next
  else delete metadata.finalizers
}

/** The generic first half of a deletion, by grace period and finalizers. */
function terminatingObject(
  definition: ResourceDefinition,
  current: FrozenObject,
  options: DeleteRequestOptions,
  now: number,
): ApiObject | 'now' | 'pending' {
  const { metadata } = current
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  const graceful = definition.strategy.gracePeriodSeconds !== undefined
  const finalizers = deletionFinalizers(definition, current, options)
  const marked = (change: Partial<ApiObject['metadata']>): ApiObject => {
    const next = ownMetadata(current as ApiObject)
    Object.assign(next.metadata, change)
    if (finalizers.length > 0) next.metadata.finalizers = finalizers
    else delete next.metadata.finalizers
    return next
  }
  const { deletionGracePeriodSeconds: old = 0 } = metadata
  if (graceful && metadata.deletionTimestamp !== undefined && old > 0) {
    if (requested === undefined || requested >= old) return 'pending'
    const moved = parseTime(metadata.deletionTimestamp) + (requested - old) * 1000
    // A grace period that is over by then becomes the shortest one.
    const isOver = moved < now
    return marked({
      deletionTimestamp: formatTime(isOver ? now : moved),
      deletionGracePeriodSeconds: isOver && requested > 0 ? 1 : requested,
    })
  }
  // A kind with grace periods is marked even for one of zero seconds: the watchers see both halves.
  if (metadata.deletionTimestamp === undefined && definition.strategy.gracePeriodSeconds !== undefined) {
    const seconds = definition.strategy.gracePeriodSeconds(current, requested)
    return marked({
      deletionTimestamp: formatTime(now + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...raisedGeneration(current),
    })
  }
  if (finalizers.length === 0) return 'now'
  const unchanged = sameList(finalizers, metadata.finalizers ?? [])
  if (metadata.deletionTimestamp !== undefined && unchanged && metadata.deletionGracePeriodSeconds === 0) return 'pending'
  return marked({
    deletionTimestamp: metadata.deletionTimestamp ?? formatTime(now),
    deletionGracePeriodSeconds: 0,
    ...(metadata.deletionTimestamp === undefined ? raisedGeneration(current) : {}),
  })
}

function raisedGeneration(current: FrozenObject): { generation?: number } {
  const { generation } = current.metadata
  return generation === undefined || generation === 0 ? {} : { generation: generation + 1 }
}

/** The finalizers of the object after adding or removing those of garbage collection, by the propagation policy. */
function deletionFinalizers(definition: ResourceDefinition, current: FrozenObject, options: DeleteRequestOptions): string[] {
  const present = current.metadata.finalizers ?? []
  const others = present.filter((f) => f !== orphanFinalizer && f !== foregroundFinalizer)
  const { defaultPropagation = 'Background' } = definition.strategy
  if (defaultPropagation === 'Unsupported') return others
  const { orphanDependents, propagationPolicy } = options
  const asked = orphanDependents !== undefined ? (orphanDependents ? 'Orphan' : 'Background') : propagationPolicy
  const policy =
    asked ??
    (present.includes(orphanFinalizer) ? 'Orphan' : present.includes(foregroundFinalizer) ? 'Foreground' : defaultPropagation)
  const next =
    policy === 'Orphan' ? [...others, orphanFinalizer] : policy === 'Foreground' ? [...others, foregroundFinalizer] : others
  return sameList(next, present) ? [...present] : next
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  const items = new Set(b)
  return a.length === b.length && a.every((item) => items.has(item))
}
