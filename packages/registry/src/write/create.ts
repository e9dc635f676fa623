import type { AdmissionAttributes, AdmissionContext } from '@krmkit/admission'
import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { startWork, type Work } from '@krmkit/meta/work'
import type { FrozenObject, Stored, WriteContext } from '../interfaces.ts'
import { groupResource, type StoreInternals } from '../internals.ts'
import { objectKey } from '../keys.ts'
import { trackOwnership } from '../ownership/field-ownership.ts'
import { waitForNewest } from '../read/resource-version.ts'
import { canonicalForm, shownByDryRun } from '../versions/canonical-form.ts'
import { admissionAttributes, admissionContext, mendAdmitted, writeReserved } from './admission.ts'
import type { Grants } from './allocations.ts'
import { fromNewestWhenRefused, TrackedReader } from './local-state.ts'
import {
  dropMember,
  fillNewMetadata,
  generatedName,
  ownMetadata,
  strategyContext,
  takeNamespace,
  validateByStrategy,
  validateNewMetadata,
  wipeSystemMetadata,
} from './metadata.ts'
import { prepareAndValidate } from './prepare.ts'
import { mutableCopy, type Stages, stagesAfter, stagesOf } from './stages.ts'
import { writeEntry } from './write-entry.ts'
import { inWriteSpan } from './write-span.ts'
import { traceRequested, traceWritten } from './write-trace.ts'

/** Attempts to find a free generated name. */
const generatedNameAttempts = 8

export interface Creation {
  readonly namespace: string
  /** In the storage version, decoded and defaulted; the caller's own. */
  readonly object: ApiObject
  /** `object` carries its managedFields already. */
  readonly managesFields?: boolean
  /** Name in the path of a PUT or PATCH; empty for POST. */
  readonly pathName?: string
  /** Errors for required members that the object lacks. */
  readonly missing?: readonly FieldError[] | undefined
}

/**
 * Creates an object: metadata, ownership, mutating admission, strategy, validation, validating admission, storage.
 *
 * @throws ApiError 400, 403 (admission), 409 (name taken), 422 (invalid).
 */
export async function createObject(store: StoreInternals, context: WriteContext, creation: Creation): Promise<Stored> {
  const { definition, environment } = store
  const { namespace, managesFields = false, pathName = '', missing = [] } = creation
  const { storage } = environment
  // The write finds out whether the name is free.
  const fresh = context.dryRun ? waitForNewest(storage) : undefined
  if (fresh !== undefined) await fresh
  const asked = ownMetadata(creation.object)
  takeNamespace(asked, namespace, definition)
  wipeSystemMetadata(asked, { keepsDeletion: pathName !== '' })
  const given = stagesOf(store, asked)
  const owned = { live: undefined, next: asked, subresource: '', large: given !== undefined }
  const tracking = managesFields ? undefined : trackOwnership(store, context, owned)
  if (tracking !== undefined) await tracking
  const { name = '' } = asked.metadata
  const attributes = admissionAttributes(definition, context, { operation: 'CREATE', name, namespace })
  const reader = storage.refresh === undefined ? undefined : new TrackedReader(store.reader)
  const admission = admissionContext(reader === undefined ? store : { ...store, reader }, context)
  if (given !== undefined) await given.next()
  if (context.trace !== undefined) traceRequested(context, asked)
  const admit = () => environment.admission.admit(asked, attributes, admission)
  const admitted = await (reader === undefined
    ? admit()
    : fromNewestWhenRefused(storage, admit, { mayBeStale: () => reader.hasMissed }))
  const object = admitted === asked ? asked : ownMetadata(admitted)
  const stages = admitted === asked ? given : stagesAfter(store, given, object)
  const mending = startWork(mendAdmitted(object, asked, context), store.turns)
  if (mending !== undefined) await mending
  if (admitted !== asked) takeNamespace(object, namespace, definition)
  // Links are not stored, nor the version where a PUT or PATCH creates its object, as on kube-apiserver; a dry run shows them.
  if (!context.dryRun) {
    if (pathName !== '') dropMember(object.metadata, 'resourceVersion')
    dropMember(object.metadata, 'selfLink')
  }
  const { guard } = environment
  if (guard?.covers(definition) === true) {
    const guarded = { definition, user: context.user, namespace, name: pathName, object: object as FrozenObject }
    await fromNewestWhenRefused(storage, async () => guard.check(guarded))
  }
  // Mutating webhooks may choose the name, or another prefix.
  const { generateName = '' } = object.metadata
  const generate = (object.metadata.name ?? '') === '' && generateName !== ''
  const attempts = gateEnabled('RetryGenerateName', environment.features) ? generatedNameAttempts : 1
  for (let attempt = 1; ; attempt++) {
    // What an attempt sets follows from its name and uid.
    const named = generate && attempts > 1 ? await mutableCopy(object, stages) : object
    if (generate) named.metadata.name = generatedName(generateName, environment)
    const stored = await store.allocations.run(definition, (grants) =>
      createOnce(store, context, { object: named, attributes, admission, managesFields, pathName, missing, stages, grants }),
    )
    if (stored !== undefined) {
      traceWritten(context, undefined, stored.object)
      return stored
    }
    if (!generate || attempt >= attempts) throw await takenName(store, named)
  }
}

/**
 * Differs: the stock server stores an object that a mutating webhook renamed under the name in the path, where no later request can change
 * it.
 *
 * @throws ApiError 400
 */
function refuseOtherName(pathName: string, { metadata: { name = '' } }: ApiObject): void {
  if (pathName === '' || name === pathName) return
  throw ApiError.badRequest(`the name of the object (${name}) does not match the name on the URL (${pathName})`)
}

async function takenName(store: StoreInternals, { metadata }: ApiObject): Promise<ApiError> {
  const { definition, environment, objectCache } = store
  const gr = groupResource(store)
  const { name = '', namespace = '', generateName = '' } = metadata
  const taken = generateName === '' ? ApiError.alreadyExists(gr, name) : ApiError.generateNameConflict(gr, name)
  const entry = environment.storage.peek(objectKey(definition, namespace, name))
  const isTerminating = entry !== undefined && (await objectCache.parsed(entry)).metadata.deletionTimestamp !== undefined
  return isTerminating ? new ApiError({ ...taken.status, message: `object is being deleted: ${taken.message}` }) : taken
}

interface PreparedCreation {
  readonly object: ApiObject
  readonly attributes: AdmissionAttributes
  readonly admission: AdmissionContext
  readonly managesFields: boolean
  readonly pathName: string
  readonly missing: readonly FieldError[]
  readonly stages: Stages
  readonly grants: Grants | undefined
}

function* validateNew(
  object: ApiObject,
  definition: ResourceDefinition,
  about: StrategyContext,
  missing: readonly FieldError[],
): Work<readonly FieldError[]> {
  const errors = [...missing, ...(yield* validateByStrategy(object, definition, about))]
  yield true
  return errors.length > 0 ? errors : yield* validateNewMetadata(object, definition)
}

/** @returns `undefined` when the name is taken. */
async function createOnce(
  store: StoreInternals,
  context: WriteContext,
  { object, attributes, admission, managesFields, pathName, missing, stages, grants }: PreparedCreation,
): Promise<Stored | undefined> {
  const { definition, environment } = store
  const { strategy } = definition
  const about = strategyContext(store, context)
  const preparing = prepareAndValidate(store, {
    object,
    old: undefined,
    name: () => object.metadata.name ?? '',
    about,
    stages,
    grants,
    prepare() {
      fillNewMetadata(object, environment, definition)
      return strategy.prepareForCreate?.(object, about)
    },
    canonicalize: () => strategy.canonicalize?.(object, about),
    validate: () => validateNew(object, definition, about, missing),
  })
  if (preparing !== undefined) await preparing
  for (const text of strategy.warnings?.(object, undefined, about) ?? []) context.warn(text)
  if (stages !== undefined) await stages.next()
  // Validating plugins see the generated name.
  const judged = attributes.name === '' ? { ...attributes, name: object.metadata.name ?? '' } : attributes
  const reservation = await environment.admission.validate(object, judged, admission)
  const key = objectKey(definition, object.metadata.namespace ?? '', object.metadata.name ?? '')
  if (context.dryRun) {
    await reservation?.rollback()
    refuseOtherName(pathName, object)
    if (environment.storage.peek(key) !== undefined) return undefined
    // A resourceVersion that was sent is returned, as the stock server does.
    if ((object.metadata.resourceVersion ?? '') === '') delete object.metadata.resourceVersion
    const shown = await shownByDryRun(definition, await canonicalForm(store, object, stages), stages)
    if (stages !== undefined) await stages.next()
    return { object: shown }
  }
  return writeReserved(reservation, async () => {
    refuseOtherName(pathName, object)
    if (namesRevision(object.metadata.resourceVersion))
      throw ApiError.badRequest('resourceVersion should not be set on objects to be created')
    const write = { key, object, replaced: undefined, settled: true, managesFields, stages }
    const { namespace: of = '', name = '' } = object.metadata
    return inWriteSpan(store, context.span, { name: 'Create etcd3', at: { namespace: of, name } }, (span) =>
      writeEntry(store, write, span),
    )
  })
}

const maxRevision = 2n ** 64n - 1n
const maxDigits = 20

/** Whether a resourceVersion is the number of a revision. The stock server ignores any other text in a creation. */
function namesRevision(version = ''): boolean {
  if (!/^\d+$/.test(version)) return false
  const digits = version.replace(/^0+/, '')
  if (digits.length > maxDigits) return false
  const revision = BigInt(digits)
  return revision > 0n && revision <= maxRevision
}
