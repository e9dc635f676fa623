import type { AdmissionAttributes } from '@krmkit/admission'
import { equalValues } from '@krmkit/fieldmanager'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, type JsonValue, runInSlices, Slices } from '@krmkit/meta'
import { copyJson, normalize } from '@krmkit/schema'
import type { Entry } from '@krmkit/storage'
import {
  admissionAttributes,
  admissionContext,
  admittedUpdate,
  mendAdmitted,
  updateAttributes,
  writeReserved,
} from './admission-request.ts'
import type { FrozenObject, Stored, UpdateRequest, UpdateResult, WriteContext } from './interfaces.ts'
import { isStorableName, objectKey } from './keys.ts'
import { deepFreeze, encodeStored, sameBytes } from './object-cache.ts'
import {
  carryOverMetadata,
  fillNewMetadata,
  generatedName,
  strategyContext,
  takeNamespace,
  validateByStrategy,
  validateNewMetadata,
  validateUpdateByStrategy,
  validateUpdatedMetadata,
  wipeSystemMetadata,
} from './object-metadata.ts'
import { encodeWithin, maxObjectBytesByDefault, printSteps } from './object-size.ts'
import { settleOwnership, trackOwnership } from './ownership.ts'
import { mayRemoveAfterUpdate, removeUpdated } from './removal.ts'
import { type Stages, stagesOf } from './stages.ts'
import { isSettled, keepUnchanged } from './unchanged.ts'
import { optimisticLockMessage, settleVersion } from './update-version.ts'
import { storedKind, storedType, type Writer } from './writer.ts'

/** Tries to find a free generated name before giving up. */
const generatedNameAttempts = 8

/** Tries to change an object that others change, each from the object as it is then, before the loser gets a conflict. */
const updateAttempts = 100

/**
 * Creates an object. `object` is the caller's own, in the storage version, decoded and defaulted.
 *
 * @throws ApiError 400, 403 (admission), 409 (name taken), 422 (invalid).
 */
export async function createObject(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  {
    namespace,
    object: given,
    owned = false,
    pathName = '',
  }: {
    namespace: string
    object: ApiObject /** managedFields are set already */
    owned?: boolean /** Of PUT and PATCH. */
    pathName?: string
  },
): Promise<Stored> {
  const asked = ownMetadata(given)
  takeNamespace(asked, namespace, definition)
  const version = asked.metadata.resourceVersion ?? ''
  if (version !== '' && version !== '0' && !context.dryRun) {
    throw ApiError.badRequest('resourceVersion should not be set on objects to be created')
  }
  wipeSystemMetadata(asked)
  const tracking = owned
    ? undefined
    : trackOwnership(writer, definition, context, { live: undefined, next: asked, subresource: '' })
  if (tracking !== undefined) await tracking
  const { name = '', generateName = '' } = asked.metadata
  const generate = name === '' && generateName !== ''
  const attributes = admissionAttributes(definition, context, {
    operation: 'CREATE',
    name,
    namespace,
  })
  const admission = admissionContext(writer, context)
  const stages = stagesOf(writer, asked)
  if (stages !== undefined) await stages()
  const admitted = await writer.environment.admission.admit(asked, attributes, admission)
  const object = ownMetadata(admitted)
  mendAdmitted(object, asked, context)
  if (admitted !== asked) takeNamespace(object, namespace, definition)
  const { guard } = writer.environment
  if (guard?.covers(definition) === true) {
    await guard.check({ definition, user: context.user, namespace, name: pathName, object: object as FrozenObject })
  }
  for (let attempt = 1; ; attempt++) {
    if (generate) object.metadata.name = generatedName(generateName, writer.environment)
    const stored = await writer.addresses.inTurn(definition, () =>
      createOnce(writer, definition, context, { object, attributes, owned, stages }),
    )
    if (stored !== undefined) return stored
    if (!generate || attempt === generatedNameAttempts) throw takenName(writer, definition, object)
  }
}

/** The metadata of a draft is always the draft's own, whatever the rest is shared with. */
function ownMetadata(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

function takenName(writer: Writer, definition: ResourceDefinition, { metadata }: ApiObject): ApiError {
  const gr = { group: definition.group, resource: definition.resource.name }
  const { name = '', namespace = '', generateName = '' } = metadata
  const taken = generateName === '' ? ApiError.alreadyExists(gr, name) : ApiError.generateNameConflict(gr, name)
  const entry = writer.environment.storage.peek(objectKey(definition, namespace, name))
  const leaving = entry !== undefined && writer.objectCache.objectOf(entry).metadata.deletionTimestamp !== undefined
  return leaving ? new ApiError({ ...taken.status, message: `object is being deleted: ${taken.message}` }) : taken
}

/** `undefined` when the name is taken. */
async function createOnce(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  {
    object,
    attributes,
    owned,
    stages,
  }: { readonly object: ApiObject; readonly attributes: AdmissionAttributes; readonly owned: boolean; readonly stages: Stages },
): Promise<Stored | undefined> {
  const { environment } = writer
  const policy = strategyContext(environment, context, definition)
  fillNewMetadata(object, environment, definition)
  definition.strategy.prepareForCreate?.(object, policy)
  const ungranted = await writer.addresses.allocate(definition, object, undefined, policy)
  if (ungranted.length > 0) throw ApiError.invalid(storedKind(writer, definition), object.metadata.name ?? '', ungranted)
  const named = storedKind(writer, definition)
  const loading = definition.strategy.ready?.(object, undefined)
  if (loading !== undefined) await loading
  if (stages !== undefined) await stages()
  const errors = validateByStrategy(object, definition, policy)
  if (errors.length > 0) throw ApiError.invalid(named, object.metadata.name ?? '', errors)
  const metadataErrors = validateNewMetadata(object, definition)
  if (metadataErrors.length > 0) throw ApiError.invalid(named, object.metadata.name ?? '', metadataErrors)
  for (const text of definition.strategy.warnings?.(object, undefined, policy) ?? []) context.warn(text)
  if (stages !== undefined) await stages()
  // Judges are told the name that was generated.
  const judged = attributes.name === '' ? { ...attributes, name: object.metadata.name ?? '' } : attributes
  const reservation = await environment.admission.validate(object, judged, admissionContext(writer, context))
  const key = objectKey(definition, object.metadata.namespace ?? '', object.metadata.name ?? '')
  if (context.dryRun) {
    await reservation?.rollback()
    if (environment.storage.peek(key) !== undefined) return undefined
    // A version that was sent comes back, as from the stock server.
    if ((object.metadata.resourceVersion ?? '') === '') delete object.metadata.resourceVersion
    const type = storedType(writer, definition)
    return { object: deepFreeze(writer.storageNormalizer.normalize(type, normalize(type, object)) as ApiObject) }
  }
  return writeReserved(reservation, () =>
    writeEntry(writer, definition, { key, object, expect: 0, settled: true, owned, stages }),
  )
}

interface EntryWrite {
  readonly key: string
  readonly object: ApiObject
  /** The same in the storage version, where it was translated already. */
  readonly stored?: ApiObject | undefined
  readonly expect: number
  readonly settled: boolean
  /** The caller applies, so owners are kept whatever they cost. */
  readonly owned: boolean
  readonly stages: Stages
}

/** Encodes once and stores; `undefined` when `expect` does not hold. */
async function writeEntry(
  writer: Writer,
  definition: ResourceDefinition,
  { key, object, stored, expect, settled, owned, stages }: EntryWrite,
): Promise<(Stored & { entry: Entry }) | undefined> {
  const { environment, objectCache: parsed } = writer
  object.metadata.resourceVersion = '0'
  const type = storedType(writer, definition)
  const shown = writer.storageNormalizer.normalize(type, normalize(type, object)) as ApiObject
  const { conversion } = definition
  const canonical = stored ?? (conversion === undefined ? shown : await conversion.write(shown))
  if (stages !== undefined) await stages()
  const note = parsed.newEntry(canonical)
  if (settled) note.settledBy = definition
  const printed = stages === undefined ? undefined : await runInSlices(printSteps(canonical), new Slices(writer.slices))
  const size = { maxBytes: environment.maxObjectBytes ?? maxObjectBytesByDefault, ownersMayGo: !owned, printed }
  const result = await environment.storage.put(
    key,
    (revision) => {
      canonical.metadata.resourceVersion = String(revision)
      return encodeWithin(canonical, size)
    },
    { expect, memo: note },
  )
  if (result.outcome === 'conflict') return undefined
  if (stages !== undefined) await stages()
  note.object = deepFreeze(canonical)
  parsed.keep(note, result.entry.value.byteLength)
  if (conversion !== undefined) return { object: await parsed.read(definition, result.entry), entry: result.entry }
  return { object: canonical, entry: result.entry }
}

/**
 * Changes an object (or makes it, where the request allows), again from the live object whenever another writer was first.
 *
 * @returns the stored object; an unchanged one keeps its resourceVersion.
 * @throws ApiError 404, 409 (lost race with a given resourceVersion, or another uid), 422 (invalid).
 */
export async function updateObject(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  request: UpdateRequest,
): Promise<UpdateResult> {
  const key = objectKey(definition, request.namespace, request.name)
  let endTurn: (() => void) | undefined
  try {
    for (let attempt = 1; ; attempt++) {
      const answer = await tryUpdate(writer, definition, context, request, key)
      if (answer !== undefined) return answer
      if (context.signal.aborted || attempt === updateAttempts) {
        const gr = { group: definition.group, resource: definition.resource.name }
        throw ApiError.conflict(gr, request.name, optimisticLockMessage)
      }
      endTurn ??= await writer.keyedMutex.lock(key)
    }
  } finally {
    endTurn?.()
  }
}

/** `undefined` when another writer was first. */
async function tryUpdate(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  request: UpdateRequest,
  key: string,
): Promise<UpdateResult | undefined> {
  const { storage } = writer.environment
  const gr = { group: definition.group, resource: definition.resource.name }
  const entry = isStorableName(request.name) ? storage.peek(key) : undefined
  if (entry !== undefined) {
    const loading = writer.objectCache.load(definition, [entry])
    if (loading !== undefined) await loading
    const answer = await writer.addresses.inTurn(definition, () =>
      updateOnce(writer, definition, context, request, entry, writer.objectCache.seen(definition, entry)),
    )
    return answer === undefined ? undefined : { ...answer, created: false }
  }
  if ((request.uid ?? '') !== '') {
    const problem = `Precondition failed: UID in precondition: ${request.uid}, UID in object meta: `
    throw ApiError.conflict(gr, request.name, problem)
  }
  if (request.createMissing !== true) throw ApiError.notFound(gr, request.name)
  const made = await request.change(undefined)
  await request.mayCreate?.()
  try {
    const stored = await createObject(writer, definition, context, {
      namespace: request.namespace,
      object: made as ApiObject,
      owned: request.owned === true,
      pathName: request.name,
    })
    return { ...stored, created: true }
  } catch (error) {
    // Somebody else made it meanwhile: go on from their object.
    if (error instanceof ApiError && error.reason === 'AlreadyExists' && storage.peek(key) !== undefined) return undefined
    throw error
  }
}

/** `undefined` when another writer was first and the change may run again. */
async function updateOnce(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  request: UpdateRequest,
  entry: Entry,
  current: FrozenObject,
): Promise<Stored | undefined> {
  const { environment } = writer
  const { namespace, name, subresource, owned = false } = request
  const gr = { group: definition.group, resource: definition.resource.name }
  const named = storedKind(writer, definition)
  if (request.uid !== undefined && request.uid !== '' && request.uid !== current.metadata.uid) {
    throw ApiError.conflict(
      gr,
      name,
      `Precondition failed: UID in precondition: ${request.uid}, UID in object meta: ${current.metadata.uid}`,
    )
  }
  const given = (await request.change(current)) as ApiObject
  const same = given === current
  const asStored = same && isSettled(writer, definition, entry, current)
  const changed = asStored ? given : ownMetadata(same ? copyJson(given) : given)
  if (!asStored) takeNamespace(changed, namespace, definition)
  const tracking =
    owned || asStored ? undefined : trackOwnership(writer, definition, context, { live: current, next: changed, subresource })
  if (tracking !== undefined) await tracking
  const stages = stagesOf(writer, changed)
  if (stages !== undefined) await stages()
  const attributes = updateAttributes(definition, context, request, current)
  const admission = admissionContext(writer, context)
  const admitted = request.admitted === true ? changed : await admittedUpdate(writer, request, changed, attributes, admission)
  if (asStored && admitted === changed) {
    return keepUnchanged(writer, definition, context, { entry, current, attributes, admission })
  }
  const next = ownMetadata(asStored ? copyJson(admitted) : admitted)
  mendAdmitted(next, changed, context)
  if (admitted !== changed) takeNamespace(next, namespace, definition)
  const { guard } = environment
  if (guard?.covers(definition) === true) {
    await guard.check({ definition, user: context.user, namespace, name, object: next as FrozenObject, oldObject: current })
  }

  settleVersion(definition, name, { next, current })
  const policy = strategyContext(environment, context, definition)
  const sub = request.rules ?? (subresource === '' ? undefined : definition.strategy.subresources?.[subresource])
  carryOverMetadata(next, current, definition)
  if (sub !== undefined) sub.prepareForUpdate(next, current, policy)
  else definition.strategy.prepareForUpdate?.(next, current, policy)
  if (sub === undefined) {
    const ungranted = await writer.addresses.allocate(definition, next, current, policy)
    if (ungranted.length > 0) throw ApiError.invalid(named, name, ungranted)
  }
  const loading = definition.strategy.ready?.(next, current)
  if (loading !== undefined) await loading
  if (stages !== undefined) await stages()
  const errors = [
    ...validateUpdatedMetadata(next, current, definition),
    ...(sub !== undefined
      ? sub.validateUpdate(next, current, policy)
      : validateUpdateByStrategy(next, current, definition, policy)),
  ]
  if (errors.length > 0) throw ApiError.invalid(named, name, errors)
  for (const text of definition.strategy.warnings?.(next, current, policy) ?? []) context.warn(text)
  if (stages !== undefined) await stages()
  const judge = request.admitted === true ? undefined : (request.shownAs?.show(next) ?? next)
  const reservation = judge === undefined ? undefined : await environment.admission.validate(judge, attributes, admission)
  return writeReserved(reservation, () =>
    writeUpdate(writer, definition, context, { next, current, entry, whole: sub === undefined, owned, stages }),
  )
}

async function writeUpdate(
  writer: Writer,
  definition: ResourceDefinition,
  context: WriteContext,
  {
    next,
    current,
    entry,
    whole,
    owned,
    stages,
  }: Pick<EntryWrite, 'owned' | 'stages'> & {
    readonly next: ApiObject
    readonly current: FrozenObject
    readonly entry: Entry
    readonly whole: boolean
  },
): Promise<Stored | undefined> {
  const { objectCache: parsed } = writer
  const type = storedType(writer, definition)
  const canonical = ownMetadata(settleOwnership(current, writer.storageNormalizer.normalize(type, normalize(type, next))))
  if (stages !== undefined) await stages()
  const removing = mayRemoveAfterUpdate(definition, canonical, current)
  if (context.dryRun) return { object: deepFreeze(canonical) }
  if (removing) return removeUpdated(writer, { last: canonical, current, entry })
  canonical.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
  // Most updates change something, which is seen sooner in the values than in the bytes.
  const mayBeSame =
    definition.custom !== undefined || equalValues(canonical as unknown as JsonValue, current as unknown as JsonValue)
  if (stages !== undefined) await stages()
  const note = parsed.entryOf(entry)
  // A sub-resource looks at its own part only.
  const settled = whole || note.settledBy === definition
  const kept = definition.conversion === undefined ? canonical : await definition.conversion.write(canonical)
  if (mayBeSame && sameBytes(encodeStored(kept), entry.value)) {
    if (settled) note.settledBy = definition
    return { object: current, entry }
  }
  const stored = definition.conversion === undefined ? undefined : kept
  return writeEntry(writer, definition, {
    key: entry.key,
    object: canonical,
    stored,
    expect: entry.revision,
    settled,
    owned,
    stages,
  })
}
