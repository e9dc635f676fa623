import { paceOf, type Work } from '@krmkit/base/work'
import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError } from '@krmkit/meta'
import type { Stored, WriteContext } from '../interfaces.ts'
import { groupResource, type StoreInternals } from '../internals.ts'
import { objectKey } from '../keys.ts'
import { waitForNewest } from '../read/resource-version.ts'
import { canonicalForm, shownByDryRun } from '../versions/canonical-form.ts'
import { admissionAttributes, admissionContext, writeReserved } from './admission.ts'
import { fromNewestWhenRefused, TrackedReader } from './local-state.ts'
import {
  assignNamespace,
  completeByMarkers,
  copyMetadata,
  dropMember,
  fillNewMetadata,
  validateByStrategy,
  validateNewMetadata,
  wipeSystemMetadata,
} from './metadata.ts'
import { type AdmissionRequest, type Draft, runPipeline, type Verb, type Write } from './pipeline.ts'
import { inWriteSpan, writeEntry } from './write-entry.ts'

export interface Creation {
  readonly namespace: string
  /** In the storage version, decoded and defaulted; the creation may mutate it. */
  readonly object: ApiObject
  /** Whether `object` already has its managedFields. */
  readonly managesFields?: boolean
  /** Name in the path of a PUT or PATCH; empty for POST. */
  readonly pathName?: string
  /** Errors for required members that the object lacks. */
  readonly missing?: readonly FieldError[] | undefined
}

/**
 * Creates an object.
 *
 * @throws ApiError 400, 403 (admission), 409 (name taken), 422 (invalid).
 */
export async function createObject(store: StoreInternals, context: WriteContext, creation: Creation): Promise<Stored> {
  const { namespace, object, managesFields = false, pathName = '', missing = [] } = creation
  // A write detects a taken name itself; a dry run must read the newest state.
  if (context.dryRun) await waitForNewest(store.environment.storage)
  const change = { change: () => object, missing: () => missing, managesFields }
  const request = { namespace, name: pathName, subresource: '', ...change }
  return runPipeline({ store, context, live: undefined, request, span: context.span }, creationVerb)
}

interface CreationAdmission extends AdmissionRequest {
  /** The reader of admission plugins; present where the storage has other writers. */
  readonly reader: TrackedReader | undefined
}

/** The stages of a creation. A creation by PUT or PATCH, whose path has the name, keeps some members that POST drops. */
const creationVerb: Verb<undefined, never, CreationAdmission> = {
  async request({ store, request }) {
    const requested = copyMetadata((await request.change(undefined)) as ApiObject)
    assignNamespace(requested, request.namespace, store.definition)
    wipeSystemMetadata(requested, { keepsDeletion: request.name !== '' })
    const pace = paceOf(store.turns, requested)
    return { object: requested, pace, isUnchanged: false }
  },

  admissionRequest({ store, context, request: { namespace } }, { metadata: { name = '' } }) {
    const reader = store.environment.storage.refresh === undefined ? undefined : new TrackedReader(store.reader)
    return {
      attributes: admissionAttributes(store.definition, context, { operation: 'CREATE', name, namespace }),
      context: admissionContext(reader === undefined ? store : { ...store, reader }, context),
      reader,
    }
  },

  admit({ store }, requested, { attributes, context, reader }) {
    const { admission, storage } = store.environment
    refuseTerminating(store, requested)
    const admit = () => admission.admit(requested, attributes, context)
    return reader === undefined ? admit() : fromNewestWhenRefused(storage, admit, { mayBeStale: () => reader.hasMissed })
  },

  checkMetadata({ context, request }, { metadata }) {
    // As on kube-apiserver, selfLink is not stored, and neither is the resourceVersion of an object that PUT or PATCH creates; a dry run
    // returns both.
    if (context.dryRun) return
    if (request.name !== '') dropMember(metadata, 'resourceVersion')
    dropMember(metadata, 'selfLink')
  },

  prepare({ store: { definition, environment } }, object, context) {
    fillNewMetadata(object, environment, definition)
    return definition.strategy.prepareForCreate?.(object, context)
  },

  validate: ({ store, request }, object, context) => validateNew(object, store.definition, context, request.missing?.() ?? []),

  async store(write, draft, reservation) {
    if (!write.context.dryRun) return await writeReserved(reservation, () => writeNew(write, draft))
    await reservation?.rollback()
    return await showNew(write, draft)
  },

  async lost(write, object) {
    throw await nameConflict(write.store, object)
  },
}

/** Custom resources of a definition that is being deleted cannot be created. Before 1.34 an apply may create them, and POST is no method. */
function refuseTerminating(store: StoreInternals, { metadata }: ApiObject): void {
  const { definition, environment } = store
  if (definition.custom?.terminating !== true || !environment.features.release.atLeast('1.34')) return
  const detail = 'create not allowed while custom resource definition is terminating'
  throw ApiError.forbidden(groupResource(store), metadata.name ?? '', detail)
}

function* validateNew(
  object: ApiObject,
  definition: ResourceDefinition,
  context: StrategyContext,
  missing: readonly FieldError[],
): Work<readonly FieldError[]> {
  const errors = [...missing, ...(yield* validateByStrategy(object, definition, context))]
  yield true
  const all = errors.length > 0 ? errors : yield* validateNewMetadata(object, definition)
  return yield* completeByMarkers(all, definition, { object })
}

/** @returns `undefined` when the name is taken. */
async function writeNew({ store, request, span }: Write, { object, pace }: Draft): Promise<Stored | undefined> {
  refuseOtherName(request.name, object)
  const { namespace = '', name = '', resourceVersion } = object.metadata
  if (namesRevision(resourceVersion)) throw ApiError.badRequest('resourceVersion should not be set on objects to be created')
  const { managesFields = false } = request
  const key = objectKey(store.definition, namespace, name)
  const write = { key, object, replaced: undefined, isValidated: true, managesFields, pace }
  return inWriteSpan(store, span, { name: 'Create etcd3', at: { namespace, name } }, (ofWrite) =>
    writeEntry(store, write, ofWrite),
  )
}

/** The result of a dry run. @returns `undefined` when the name is taken. */
async function showNew({ store, request }: Write, { object, pace }: Draft): Promise<Stored | undefined> {
  const { definition, environment } = store
  refuseOtherName(request.name, object)
  const { metadata } = object
  if (environment.storage.peek(objectKey(definition, metadata.namespace ?? '', metadata.name ?? '')) !== undefined)
    return undefined
  // Like kube-apiserver, returns the resourceVersion that was sent.
  if ((metadata.resourceVersion ?? '') === '') delete metadata.resourceVersion
  const shown = await shownByDryRun(definition, await canonicalForm(store, object, pace), pace)
  if (pace.isSliced) await pace.next()
  return { object: shown }
}

/**
 * Differs: when a mutating webhook renames an object, kube-apiserver stores it at the key of the name in the path, where no later request
 * can change it.
 *
 * @throws ApiError 400
 */
function refuseOtherName(pathName: string, { metadata: { name = '' } }: ApiObject): void {
  if (pathName === '' || name === pathName) return
  throw ApiError.badRequest(`the name of the object (${name}) does not match the name on the URL (${pathName})`)
}

async function nameConflict(store: StoreInternals, { metadata }: ApiObject): Promise<ApiError> {
  const { definition, environment, objectCache } = store
  const resource = groupResource(store)
  const { name = '', namespace = '', generateName = '' } = metadata
  const conflict = generateName === '' ? ApiError.alreadyExists(resource, name) : ApiError.generateNameConflict(resource, name)
  const entry = environment.storage.peek(objectKey(definition, namespace, name))
  const isTerminating = entry !== undefined && (await objectCache.parsed(entry)).metadata.deletionTimestamp !== undefined
  if (!isTerminating) return conflict
  return new ApiError({ ...conflict.status, message: `object is being deleted: ${conflict.message}` })
}

const maxRevision = 2n ** 64n - 1n
const maxDigits = 20

/** Whether a resourceVersion is the number of a revision. kube-apiserver ignores any other text in a creation. */
function namesRevision(version = ''): boolean {
  if (!/^\d+$/.test(version)) return false
  const digits = version.replace(/^0+/, '')
  if (digits.length > maxDigits) return false
  const revision = BigInt(digits)
  return revision > 0n && revision <= maxRevision
}
