import { paceOf, whenDone } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import { newlyMissing } from '@krmkit/kinds/strategies'
import { ApiError, type FieldError } from '@krmkit/meta'
import { requirePathSegmentName } from '@krmkit/meta/names'
import type { Entry } from '@krmkit/storage'
import { type CollectionSink, type Following, type FollowOptions, followCollection } from './cache/follow.ts'
import type { ObjectCache } from './cache/object-cache.ts'
import type {
  ApplyRequest,
  CreateRequest,
  DeleteCollectionRequest,
  DeleteRequest,
  DeleteResult,
  FrozenObject,
  GetRequest,
  ListRequest,
  ListResult,
  Stored,
  StoredUpdate,
  UpdateRequest,
  UpdateResult,
  WatchRequest,
  WriteContext,
} from './interfaces.ts'
import { groupResource, type RegistryInternals, type StoreInternals } from './internals.ts'
import { collectionPrefix, isStorableName, objectKey } from './keys.ts'
import { listEntries } from './read/list.ts'
import { parseResourceVersion, waitForNewest, waitForVersion } from './read/resource-version.ts'
import { type ResourceWatch, watchEntries } from './read/watch.ts'
import { frozen } from './versions/canonical-form.ts'
import { toVersion } from './versions/to-version.direct.ts'
import { presentForm, requiredMembersOf, toStorageVersion } from './versions/version-conversion.ts'
import { applyObject } from './write/apply.ts'
import { createObject } from './write/create.ts'
import { deleteCollection, deleteObject } from './write/deletion.ts'
import { createVirtual, type OperationAdmission, type OperationRequest, operationAdmission } from './write/operation.ts'
import { type Rewritten, rewriteCollection } from './write/rewrite.ts'
import { updateObject } from './write/update.ts'

/**
 * The objects of one resource at one version: the verbs of the API without HTTP. Requests carry objects in this version; results
 * carry stored entries. All stores of a registry share its storage, caches and locks.
 *
 * @example
 * import { type Registry, serverContext } from '@krmkit/registry'
 * declare const registry: Registry
 * const store = registry.storeOf({ group: '', resource: 'configmaps' })
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, data: { color: 'red' } }
 * await store?.create(serverContext(), { namespace: 'shop', object })
 */
export class ResourceStore {
  readonly definition: ResourceDefinition
  /** Parsed forms of entries. */
  readonly objects: ObjectCache
  readonly #internals: StoreInternals

  /** @internal Stores come from `Registry.store`. */
  constructor(definition: ResourceDefinition, internals: RegistryInternals) {
    this.definition = definition
    this.objects = internals.objectCache
    this.#internals = { ...internals, definition }
  }

  /**
   * Reads one object. Returns a promise only when the read must wait for a version. `signal` is read only in that case, because adapters
   * create it on first access.
   *
   * @throws ApiError 400 for a malformed resourceVersion, 404, 504 when the store does not reach the version in time.
   * @see API protocol specification, 4.2
   */
  get(request: GetRequest, caller: { readonly signal: AbortSignal }): Entry | Promise<Entry> {
    requirePathSegmentName(request.name)
    const version = parseResourceVersion(request.resourceVersion)
    const { storage, clock } = this.#internals.environment
    if (version === undefined) return whenDone(waitForNewest(storage), () => this.#required(request))
    if (version <= storage.revision) return this.#required(request)
    return waitForVersion(storage, request.resourceVersion ?? '', clock, caller.signal).then(() => this.#required(request))
  }

  #required({ namespace, name }: GetRequest): Entry {
    const entry = isStorableName(name)
      ? this.#internals.environment.storage.peek(objectKey(this.definition, namespace, name))
      : undefined
    if (entry === undefined) throw ApiError.notFound(groupResource(this.#internals), name)
    return entry
  }

  /** The key of an object in storage. */
  keyOf({ namespace, name }: Pick<GetRequest, 'namespace' | 'name'>): string {
    return objectKey(this.definition, namespace, name)
  }

  /** Lists a collection from one snapshot. @throws ApiError 400, 410 (version or continue token too old), 504. */
  list(request: ListRequest, signal: AbortSignal): Promise<ListResult> {
    return listEntries(this.#internals, request, signal)
  }

  /** Watches a collection or one object. @throws ApiError 400, 410. */
  watch(request: WatchRequest, signal: AbortSignal): Promise<ResourceWatch> {
    return watchEntries(this.#internals, request, signal)
  }

  /** Creates an object, with defaults. @throws ApiError 400, 403, 409, 413, 422. */
  async create(context: WriteContext, request: CreateRequest): Promise<Stored> {
    const { namespace, missing, object, size } = request
    const created = await toStorageVersion(this.#internals, object, size)
    return createObject(this.#internals, context, { namespace, object: created, missing })
  }

  /** Changes an object, with defaults. @throws ApiError 400, 403, 404, 409, 413, 422. */
  update(context: WriteContext, request: UpdateRequest): Promise<UpdateResult> {
    const { definition } = this
    const required = requiredMembersOf(definition, request.subresource)
    const { change, ...target } = request
    let missing: readonly FieldError[] = []
    return updateObject(this.#internals, context, {
      change: async (current) => {
        const live = current === undefined ? undefined : toVersion(current, definition)
        const changed = await change(live)
        missing = newlyMissing(changed.missing ?? [], live, required)
        return toStorageVersion(this.#internals, changed.object, changed.size)
      },
      missing: () => missing,
      ...target,
    })
  }

  /** Changes an object as the server itself, in the present form and without defaulting. @see presentForm */
  updateStored(context: WriteContext, request: StoredUpdate): Promise<UpdateResult> {
    const { change, ...target } = request
    return updateObject(this.#internals, context, {
      change: async (current) => {
        if (current === undefined) return change(undefined)
        const pace = paceOf(this.#internals.turns, current)
        const present = await frozen(await presentForm(current, this.definition, pace), pace)
        const next = await change(present)
        return next === present ? current : next
      },
      ...target,
    })
  }

  /** Server-side apply. @throws ApiError 400, 403, 404, 409 (conflicts), 413, 422. */
  apply(context: WriteContext, request: ApplyRequest): Promise<UpdateResult> {
    return applyObject(this.#internals, context, request)
  }

  /** Deletes an object, or marks it as terminating. @throws ApiError 403, 404, 409, 422. */
  delete(context: WriteContext, request: DeleteRequest): Promise<DeleteResult> {
    return deleteObject(this.#internals, context, request)
  }

  /** Deletes the objects that a list selects. @throws ApiError 400, 403, 410, 422. */
  deleteCollection(context: WriteContext, request: DeleteCollectionRequest): Promise<void> {
    return deleteCollection(this.#internals, context, request)
  }

  /** Runs every step of a creation except storing the object. @throws ApiError 400, 403. */
  createVirtual(context: WriteContext, request: Parameters<typeof createVirtual>[2]): ReturnType<typeof createVirtual> {
    return createVirtual(this.#internals, context, request)
  }

  /** Admission of an operation on a subresource. */
  operation(context: WriteContext, operation: OperationRequest): OperationAdmission {
    return operationAdmission(this.#internals, context, operation)
  }

  /**
   * Rewrites every object whose stored form differs from that of this definition, with its defaults. Used when a store is opened as another
   * release. Neither admission nor validation runs.
   */
  rewriteAll(): Promise<Rewritten> {
    return rewriteCollection(this.#internals)
  }

  /** Number of stored objects, from an index. Namespace '': all of them. */
  count(namespace = ''): number {
    return this.#internals.environment.storage.count(collectionPrefix(this.definition, namespace))
  }

  /** Follows the stored objects of the resource, in the storage version. */
  follow(sink: CollectionSink, options: FollowOptions): Promise<Following> {
    const { storage } = this.#internals.environment
    return followCollection({ storage, objectCache: this.objects }, collectionPrefix(this.definition), sink, options)
  }

  /** The object of an entry in the storage version. */
  object(entry: Entry): FrozenObject {
    return this.objects.objectOf(entry)
  }
}
