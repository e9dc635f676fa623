import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, field, formatTime, type NamingProfile, Path, parseTime, stockProfile } from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import type { Entry } from '@krmkit/storage'
import { admissionAttributes, admissionContext } from './admission-request.ts'
import type { DeleteOptions, DeleteRequest, DeleteResult, FrozenObject, Stored, WriteContext } from './interfaces.ts'
import { isStorableName, objectKey } from './keys.ts'
import { deepFreeze, encodeStored } from './object-cache.ts'
import { strategyContext } from './object-metadata.ts'
import { storedType, type Writer } from './writer.ts'

/**
 * How objects go.
 *
 *     live --delete, nothing holds it--> gone
 *     live --delete, finalizers or grace period--> terminating --last finalizer removed, grace period over--> gone
 *
 * @see API protocol specification, 3
 */

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** An update that empties the finalizers of a terminating object is its end. */
export function mayRemoveAfterUpdate(definition: ResourceDefinition, next: FrozenObject, current: FrozenObject): boolean {
  if (current.metadata.deletionTimestamp === undefined || (next.metadata.finalizers ?? []).length > 0) return false
  if (isNamespace(definition)) return namespaceFinalizers(next).length === 0
  return (current.metadata.deletionGracePeriodSeconds ?? 0) === 0
}

/**
 * Removes an object whose update left it nothing to wait for. Nothing of the change is stored: watchers see the object as it was, at
 * the version of the deletion.
 *
 * @param last the object as the update made it, which the answer shows at the version that was deleted.
 * @returns `undefined` when another writer was first.
 */
export async function removeUpdated(
  { environment, objectCache: parsed }: Writer,
  { last, current, entry }: { readonly last: ApiObject; readonly current: FrozenObject; readonly entry: Entry },
): Promise<Stored | undefined> {
  const stored = parsed.objectOf(entry) as ApiObject
  const gone = { ...stored, metadata: { ...stored.metadata } }
  const result = await environment.storage.delete(
    entry.key,
    (revision) => {
      gone.metadata.resourceVersion = String(revision)
      return encodeStored(gone)
    },
    { expect: entry.revision, memo: parsed.newEntry(gone) },
  )
  if (result.outcome !== 'written') return undefined
  const metadata = { ...last.metadata, resourceVersion: current.metadata.resourceVersion ?? '' }
  return { object: deepFreeze({ ...last, metadata }) }
}

/** @throws ApiError 422 for options that contradict each other or say unknown words. */
export function validateDeleteOptions(options: DeleteOptions, { apiDomain }: NamingProfile = stockProfile): void {
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
  } else if (propagationPolicy !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)) {
    errors.push(
      field.notSupported(Path.of('propagationPolicy'), propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']),
    )
  }
  errors.push(...validateDryRun(dryRun ?? []))
  if (errors.length > 0) throw ApiError.invalid({ group: `meta.${apiDomain}`, kind: 'DeleteOptions' }, '', errors)
}

/** Go prints the whole list as the value. */
export function validateDryRun(dryRun: readonly string[]): ReturnType<typeof field.notSupported>[] {
  if (dryRun.every((word) => word === 'All')) return []
  const printed = `[]string{${dryRun.map((word) => JSON.stringify(word)).join(', ')}}`
  return [
    { field: 'dryRun', reason: 'FieldValueNotSupported', message: `Unsupported value: ${printed}: supported values: "All"` },
  ]
}

/**
 * Deletes an object, or marks it when finalizers or a grace period hold it.
 *
 * @throws ApiError 404, 409 (preconditions), 422 (options).
 */
export async function deleteObject(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  { namespace, name, options, collective = false, admitted = false }: DeleteRequest,
): Promise<DeleteResult> {
  const { environment, objectCache: parsed } = writer
  validateDeleteOptions(options, environment.profile)
  const gr = { group: definition.group, resource: definition.resource.name }
  const key = objectKey(definition, namespace, name)
  const told = collective ? '' : name
  const request = { operation: 'DELETE' as const, name: told, namespace, options }
  const admission = admissionContext(writer, context)
  for (;;) {
    const entry = isStorableName(name) ? environment.storage.peek(key) : undefined
    if (entry === undefined) throw ApiError.notFound(gr, name)
    const current = definition.conversion === undefined ? parsed.objectOf(entry) : await parsed.read(definition, entry)
    // The stock server names the kind here, where every other conflict names the resource.
    checkPreconditions({ group: definition.kind.group, resource: definition.kind.kind }, name, current, options)
    const attributes = admissionAttributes(definition, context, { ...request, oldObject: current })
    if (!admitted) {
      await environment.admission.admit(undefined, attributes, admission)
      await environment.admission.validate(undefined, attributes, admission)
    }
    if (
      definition.strategy.defaultPropagationWarning !== undefined &&
      options.propagationPolicy === undefined &&
      options.orphanDependents === undefined
    ) {
      context.warn(definition.strategy.defaultPropagationWarning)
    }
    const answer = await deleteOnce(writer, definition, context, options, entry, current)
    if (answer !== undefined) return answer
  }
}

async function deleteOnce(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  options: DeleteOptions,
  entry: Entry,
  current: FrozenObject,
): Promise<DeleteResult | undefined> {
  const { environment, objectCache: parsed } = writer
  const { storage } = environment
  const next = isNamespace(definition)
    ? terminatingNamespace(current, options, environment.clock.now())
    : definition.strategy.beginDeletion !== undefined && current.metadata.deletionTimestamp === undefined
      ? markedByPolicy(definition, current, strategyContext(environment, context, definition))
      : terminatingObject(definition, current, options, environment.clock.now())
  if (next === 'pending') return { object: current, entry, removed: false }
  if (next === 'now') {
    if (context.dryRun) return { object: current, entry, removed: true }
    const last = structuredClone(definition.conversion === undefined ? current : parsed.objectOf(entry)) as ApiObject
    const result = await storage.delete(
      entry.key,
      (revision) => {
        last.metadata.resourceVersion = String(revision)
        return encodeStored(last)
      },
      { expect: entry.revision, memo: parsed.newEntry(last) },
    )
    if (result.outcome !== 'written') return undefined
    deepFreeze(last)
    if (definition.strategy.gracePeriodSeconds === undefined || last.metadata.deletionTimestamp !== undefined)
      return definition.conversion === undefined
        ? { object: last, entry: result.entry, removed: true }
        : { object: shownLast(current, last), removed: true }
    // Kinds with a grace period are answered as marked, although what was stored never was.
    const mark = { deletionTimestamp: formatTime(environment.clock.now()), deletionGracePeriodSeconds: 0 }
    const marked = { ...last, metadata: { ...last.metadata, ...mark, ...raisedGeneration(current) } }
    return { object: deepFreeze(normalize(storedType(writer, definition), marked) as ApiObject), removed: true }
  }
  const canonical = normalize(storedType(writer, definition), next) as ApiObject
  if (context.dryRun) return { object: deepFreeze(canonical), removed: false }
  const kept = definition.conversion === undefined ? canonical : await definition.conversion.write(canonical)
  const note = parsed.newEntry(kept)
  const result = await storage.put(
    entry.key,
    (revision) => {
      kept.metadata.resourceVersion = String(revision)
      return encodeStored(kept)
    },
    { expect: entry.revision, memo: note },
  )
  if (result.outcome === 'conflict') return undefined
  note.object = deepFreeze(kept)
  parsed.keep(note, result.entry.value.byteLength)
  const held = (canonical.metadata.finalizers ?? []).length > 0 || (canonical.metadata.deletionGracePeriodSeconds ?? 0) > 0
  // A grace period of zero and nothing that holds it: the mark was only the first half.
  return held || isNamespace(definition)
    ? { object: await parsed.read(definition, result.entry), entry: result.entry, removed: false }
    : undefined
}

/** What was removed, as the version of the request shows it. */
function shownLast(current: FrozenObject, { metadata }: ApiObject): FrozenObject {
  return deepFreeze({ ...current, metadata: { ...current.metadata, resourceVersion: metadata.resourceVersion ?? '' } })
}

function checkPreconditions(
  gr: { group: string; resource: string },
  name: string,
  current: FrozenObject,
  options: DeleteOptions,
): void {
  const { uid, resourceVersion } = options.preconditions ?? {}
  if (uid !== undefined && uid !== current.metadata.uid) {
    throw ApiError.conflict(
      gr,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
    throw ApiError.conflict(
      gr,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current.metadata.resourceVersion}`,
    )
  }
}

function markedByPolicy({ strategy: policy }: ResourceDefinition, current: FrozenObject, context: StrategyContext): ApiObject {
  const next = structuredClone(current) as ApiObject
  next.metadata.deletionTimestamp = formatTime(context.clock.now())
  policy.beginDeletion?.(next, context)
  return next
}

/** What the first half of a deletion makes of an object: its marked form, or that it can go at once, or that nothing changes. */
function terminatingObject(
  definition: ResourceDefinition,
  current: FrozenObject,
  options: DeleteOptions,
  now: number,
): ApiObject | 'now' | 'pending' {
  const { metadata } = current
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds
  const graceful = definition.strategy.gracePeriodSeconds !== undefined
  const finalizers = deletionFinalizers(definition, current, options)
  const marked = (change: Partial<ApiObject['metadata']>): ApiObject => {
    const next = structuredClone(current) as ApiObject
    Object.assign(next.metadata, change)
    return next
  }
  if (graceful && metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds !== undefined) {
    const old = metadata.deletionGracePeriodSeconds
    if (requested === undefined || requested >= old) return old === 0 && finalizers.length === 0 ? 'now' : 'pending'
    const requestedAt = parseTime(metadata.deletionTimestamp) - old * 1000
    return marked({ deletionTimestamp: formatTime(requestedAt + requested * 1000), deletionGracePeriodSeconds: requested })
  }
  const seconds = definition.strategy.gracePeriodSeconds?.(current, requested) ?? 0
  if (metadata.deletionTimestamp === undefined && seconds > 0) {
    return marked({
      deletionTimestamp: formatTime(now + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...raisedGeneration(current),
      ...(finalizers.length > 0 ? { finalizers } : {}),
    })
  }
  if (finalizers.length === 0) return 'now'
  const unchanged = sameList(finalizers, metadata.finalizers ?? [])
  if (metadata.deletionTimestamp !== undefined && unchanged && metadata.deletionGracePeriodSeconds === 0) return 'pending'
  return marked({
    deletionTimestamp: metadata.deletionTimestamp ?? formatTime(now),
    deletionGracePeriodSeconds: 0,
    ...(metadata.deletionTimestamp === undefined ? raisedGeneration(current) : {}),
    finalizers,
  })
}

function raisedGeneration(current: FrozenObject): { generation?: number } {
  const { generation } = current.metadata
  return generation === undefined || generation === 0 ? {} : { generation: generation + 1 }
}

/** The object's finalizers with those of garbage collection added or taken away as the deletion asks. */
function deletionFinalizers(definition: ResourceDefinition, current: FrozenObject, options: DeleteOptions): string[] {
  const present = current.metadata.finalizers ?? []
  const others = present.filter((f) => f !== orphanFinalizer && f !== foregroundFinalizer)
  const { orphanDependents, propagationPolicy } = options
  const asked = orphanDependents !== undefined ? (orphanDependents ? 'Orphan' : 'Background') : propagationPolicy
  const policy =
    asked ??
    (present.includes(orphanFinalizer)
      ? 'Orphan'
      : present.includes(foregroundFinalizer)
        ? 'Foreground'
        : (definition.strategy.defaultPropagation ?? 'Background'))
  const next =
    policy === 'Orphan' ? [...others, orphanFinalizer] : policy === 'Foreground' ? [...others, foregroundFinalizer] : others
  return sameList(next, present) ? [...present] : next
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  const items = new Set(b)
  return a.length === b.length && a.every((item) => items.has(item))
}

function isNamespace(definition: ResourceDefinition): boolean {
  return definition.kind.group === '' && definition.kind.kind === 'Namespace'
}

function namespaceFinalizers(namespace: FrozenObject): readonly string[] {
  return (namespace as { spec?: { finalizers?: readonly string[] } }).spec?.finalizers ?? []
}

/** A namespace first becomes terminating; it goes when its controller has emptied `spec.finalizers`. */
function terminatingNamespace(current: FrozenObject, options: DeleteOptions, now: number): ApiObject | 'now' | 'pending' {
  if (current.metadata.deletionTimestamp !== undefined) {
    return namespaceFinalizers(current).length > 0 || (current.metadata.finalizers ?? []).length > 0 ? 'pending' : 'now'
  }
  const next = structuredClone(current) as ApiObject & { status?: Record<string, unknown> }
  next.metadata.deletionTimestamp = formatTime(now)
  next.status = { ...next.status, phase: 'Terminating' }
  if (options.orphanDependents === true && !(next.metadata.finalizers ?? []).includes(orphanFinalizer)) {
    next.metadata.finalizers = [...(next.metadata.finalizers ?? []), orphanFinalizer]
  }
  return next
}
