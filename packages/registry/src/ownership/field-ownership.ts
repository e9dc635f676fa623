import { type Pace, runAtOnce, runInLaterTurns, type Turns, type Work } from '@krmkit/base/work'
import { createTypeConverter, FieldSet, type ResetFields, type TypeConverter } from '@krmkit/fieldmanager'
import { fieldElement } from '@krmkit/fieldmanager/fieldpath'
import { ignoreManagedFieldsTimestamps, isResetManagedFields } from '@krmkit/fieldmanager/managed-fields'
import * as pacedFields from '@krmkit/fieldmanager/paced'
import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, type Features, formatApiVersion, type JsonObject, type JsonValue } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { normalize, stringifyJson } from '@krmkit/schema'
import type { FrozenObject, RegistryEnvironment, WriteContext } from '../interfaces.ts'
import type { ServedResources } from '../versions/served-resources.ts'
import { toVersion } from '../versions/to-version.direct.ts'
import { owners } from './owners.direct.ts'
import type { Owners, OwnersUpdate } from './owners.ts'
import * as paced from './owners.ts'

/**
 * Field ownership, recorded by every write. managedFields refer to the version of the request, so objects are converted to that version.
 *
 * @see API protocol specification, 4.7
 */

/** The parts of a store that ownership tracking needs. */
interface OwnershipContext {
  readonly definition: ResourceDefinition
  readonly environment: Pick<RegistryEnvironment, 'clock'>
  readonly fieldOwnership: FieldOwnership
  readonly served: Pick<ServedResources, 'stored'>
  readonly turns: Turns
}

interface OwnedWrite {
  readonly live: FrozenObject | undefined
  readonly next: ApiObject
  readonly subresource: string
  /** Is sliced when one of the objects is large. */
  readonly pace: Pace
  /** Whether the stored object was written under another definition than the present one. Default false. */
  readonly hasOldDefinition?: boolean
}

/**
 * Records that the manager of the request owns the fields in which `next` differs from `live` (both in the storage version). Sets
 * `next.metadata.managedFields`; mutates `next`.
 */
export function trackOwnership(
  store: OwnershipContext,
  context: Pick<WriteContext, 'fieldManager'>,
  write: OwnedWrite,
): Promise<void> | undefined {
  // Conversion by webhook is asynchronous.
  if (write.pace.isSliced || store.definition.conversion !== undefined) return trackInSlices(store, context, write)
  if (runAtOnce(hasMistypedValues(store, write))) setManagedFields(write.next, ownersOfMistyped(store, write))
  else {
    const update = ownersUpdate(store, context, write)
    setManagedFields(write.next, update === undefined ? undefined : owners(store, write.next, update))
  }
  return undefined
}

async function trackInSlices(
  store: OwnershipContext,
  context: Pick<WriteContext, 'fieldManager'>,
  write: OwnedWrite,
): Promise<void> {
  const { next, pace } = write
  const check = hasMistypedValues(store, write)
  const isMistyped = pace.isSliced ? await pace.run(check) : runAtOnce(check)
  if (isMistyped) {
    setManagedFields(next, ownersOfMistyped(store, write))
    return
  }
  const update = ownersUpdate(store, context, write)
  setManagedFields(next, update === undefined ? undefined : await runInLaterTurns(paced.owners(store, next, update), store.turns))
}

/**
 * Returns `undefined` when the object has no managedFields after the write: an object without managedFields stays without them until an
 * apply or an update sets them.
 */
function ownersUpdate(
  store: OwnershipContext,
  { fieldManager: manager }: Pick<WriteContext, 'fieldManager'>,
  { live, next, subresource }: OwnedWrite,
): OwnersUpdate | undefined {
  const { definition } = store
  if (live !== undefined && !hasOwners(live) && !hasOwners(next)) return undefined
  const { types, reset } = store.fieldOwnership.of(definition)
  return {
    live: live === undefined ? undefined : toVersion(live, definition),
    manager,
    apiVersion: formatApiVersion(definition.kind),
    subresource,
    resetFields: reset.get(subresource),
    now: store.environment.clock.now(),
    types,
    keepsLiveOnMismatch: store.fieldOwnership.keepsLiveOnMismatch,
  }
}

/** The managedFields of an object for which ownership cannot be tracked. */
function ownersOfMistyped({ fieldOwnership }: OwnershipContext, { live }: OwnedWrite): Owners {
  return fieldOwnership.keepsLiveOnMismatch ? live?.metadata.managedFields : undefined
}

/**
 * Whether an update of a custom resource involves values that do not match the types of its schema. Such values occur in a stored object
 * whose schema has changed since; in the part that the request cannot change, which is dropped without validation; and in strings with a
 * `format`, where validation accepts lists. For such an update, kube-apiserver fails to track ownership: it drops all managedFields, and since
 * 1.37 keeps those of the stored object.
 */
function* hasMistypedValues(
  { definition, fieldOwnership }: OwnershipContext,
  { live, next, subresource, hasOldDefinition = false }: OwnedWrite,
): Work<boolean> {
  const { custom, kind, strategy } = definition
  if (custom?.schema === undefined || subresource === 'scale') return false
  const { status, metadata: _, ...rest } = next as ApiObject & { status?: JsonValue }
  const hasStatus = strategy.subresources?.['status'] !== undefined
  const checked = { ...(hasFormats(custom.schema) || subresource === 'status' ? rest : {}), ...(hasStatus ? { status } : {}) }
  const type = fieldOwnership.of(definition).types.typed(formatApiVersion(kind))
  if (type === undefined) return false
  if ((yield* pacedFields.validateValue(checked as JsonObject, type, { allowDuplicates: true })).length > 0) return true
  if (live === undefined || !hasOldDefinition) return false
  const { metadata, ...stored } = live
  return (yield* pacedFields.validateValue(stored as JsonObject, type, { allowDuplicates: true })).length > 0
}

const formats = new WeakMap<JsonObject, boolean>()

/** Whether a schema contains strings with a `format`. */
function hasFormats(schema: JsonObject): boolean {
  let found = formats.get(schema)
  if (found === undefined) {
    found = stringifyJson(schema).includes('"format":')
    formats.set(schema, found)
  }
  return found
}

function hasOwners({ metadata: { managedFields } }: FrozenObject | ApiObject): boolean {
  return managedFields !== undefined && managedFields.length > 0 && !isResetManagedFields(managedFields)
}

/** Sets or removes the managedFields of an object. Mutates its metadata. */
export function setManagedFields({ metadata }: ApiObject, entries: Owners): void {
  if (entries !== undefined) metadata.managedFields = entries as NonNullable<ApiObject['metadata']['managedFields']>
  // `delete` is slow even for an absent member, so check first.
  else if ('managedFields' in metadata) delete metadata.managedFields
}

/** Restores the old timestamps when managedFields differ in nothing else, so that the write changes nothing. */
export function keepTimestamps(current: FrozenObject, next: ApiObject, pace: Pace): ApiObject | Promise<ApiObject> {
  const written = next as FrozenObject
  return pace.isSliced
    ? (pace.run(pacedFields.ignoreManagedFieldsTimestamps(current, written)) as Promise<ApiObject>)
    : (ignoreManagedFieldsTimestamps(current, written) as ApiObject)
}

/** Types of all served versions of one kind, and the fields that its subresources reset. */
interface OwnedKind {
  readonly types: TypeConverter
  /** Reset fields by subresource; the empty name is the main resource. */
  readonly reset: ReadonlyMap<string, ResetFields>
}

/** Caches the types by definition, because a resource whose versions change gets new definitions. */
export class FieldOwnership {
  readonly #served: ServedResources
  readonly #release: Features['release']
  readonly #known = new WeakMap<ResourceDefinition, OwnedKind>()

  constructor(served: ServedResources, { release }: Pick<Features, 'release'>) {
    this.#served = served
    this.#release = release
  }

  /** Whether an update for which ownership cannot be tracked keeps the managedFields of the stored object. */
  get keepsLiveOnMismatch(): boolean {
    return this.#release.atLeast('1.37')
  }

  of(definition: ResourceDefinition): OwnedKind {
    let known = this.#known.get(definition)
    if (known === undefined) {
      known = this.#describe(definition)
      this.#known.set(definition, known)
    }
    return known
  }

  #describe(definition: ResourceDefinition): OwnedKind {
    const { kinds } = definition.custom ?? {}
    return kinds === undefined ? this.#describeServed(definition) : describeCustom(definition, kinds, this.#release)
  }

  #describeServed(definition: ResourceDefinition): OwnedKind {
    const versions = this.#served.versionsOf(definition.storage)
    const served = versions.length === 0 ? [definition] : versions
    const byVersion = new Map(served.map((each) => [formatApiVersion(each.kind), each]))
    const convert = (object: JsonObject, apiVersion: string): JsonObject => {
      const from = byVersion.get(String(object.apiVersion))
      const to = byVersion.get(apiVersion)
      if (from === undefined || to === undefined) return object
      const stored = from.toStorage?.(object as unknown as ApiObject) ?? (object as unknown as ApiObject)
      const converted = to.fromStorage?.(stored) ?? stored
      return normalize(to.kind.type(), converted) as unknown as JsonObject
    }
    const types = createTypeConverter(
      Object.fromEntries([...byVersion].map(([version, each]) => [version, each.kind.type])),
      byVersion.size > 1 ? convert : undefined,
    )
    return { types, reset: resetFields(definition, [...byVersion.keys()], this.#release) }
  }
}

/** Managers may own fields in versions that are no longer served; each version resets only its own fields. */
function describeCustom(
  definition: ResourceDefinition,
  kinds: ReadonlyMap<string, KindInfo>,
  release: Features['release'],
): OwnedKind {
  const types = createTypeConverter(
    Object.fromEntries([...kinds].map(([version, { type }]) => [version, type])),
    conversionOf(definition, kinds),
  )
  return { types, reset: resetFields(definition, [formatApiVersion(definition.kind)], release) }
}

/**
 * Converts custom resources as kube-apiserver does for ownership: members that the schema of a version lacks are kept, so that an object
 * with such members does not match the schema.
 */
function conversionOf(
  { conversion, kind: { kind, group } }: ResourceDefinition,
  kinds: ReadonlyMap<string, KindInfo>,
): NonNullable<TypeConverter['convert']> {
  return (object, apiVersion) => {
    if (!kinds.has(apiVersion)) throw new Error(unknownVersion(`${object.apiVersion}, Kind=${kind}`, group, apiVersion))
    const isEmpty = Object.keys(object).every((member) => member === 'apiVersion' || member === 'kind')
    if (conversion === undefined || isEmpty) return { ...object, apiVersion }
    return conversion.convert(object as unknown as ApiObject, apiVersion) as Promise<unknown> as Promise<JsonObject>
  }
}

function unknownVersion(from: string, group: string, apiVersion: string): string {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  return parts.length === 2 && parts[0] === group
    ? `request to convert CR to an invalid group/version: ${apiVersion}`
    : `${from} is unstructured and is not suitable for converting to ${goQuote(apiVersion)}`
}

function resetFields(
  { strategy }: ResourceDefinition,
  versions: readonly string[],
  release: Features['release'],
): OwnedKind['reset'] {
  const reset = new Map<string, ResetFields>()
  const { laterResetFields: later } = strategy
  const all = { ...strategy.resetFields, ...(later !== undefined && release.atLeast(later.since) ? later.fields : {}) }
  for (const [subresource, paths] of Object.entries(all)) {
    const exclude = FieldSet.of(...paths.map((path) => path.map((member) => fieldElement(member))))
    reset.set(subresource, Object.fromEntries(versions.map((version) => [version, { exclude }])))
  }
  return reset
}
