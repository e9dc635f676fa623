import type { ObjectReader } from '@krmkit/admission'
import { createTurns, type Turns } from '@krmkit/base/work'
import type { AllocationProblem, ResourceDefinition } from '@krmkit/kinds'
import type { GroupResource, GroupVersionResource } from '@krmkit/meta'
import { Allocations } from './allocations.ts'
import { type CollectionSink, type Following, type FollowOptions, followCollection } from './cache/follow.ts'
import { ObjectCache } from './cache/object-cache.ts'
import type { RegistryEnvironment } from './interfaces.ts'
import type { RegistryInternals } from './internals.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { collectionPrefix } from './keys.ts'
import { createWriter } from './object-writer.ts'
import { FieldOwnership } from './ownership/field-ownership.ts'
import { createReader } from './read/object-reader.ts'
import { waitForNewest } from './read/resource-version.ts'
import { createSharedAllocations } from './shared-allocations.ts'
import { ResourceStore } from './store.ts'
import { StorageNormalizer } from './versions/canonical-form.ts'
import { ServedResources } from './versions/served-resources.ts'
import { createVersionConverter } from './versions/version-converter.ts'

/** The stores of all served resources. */
export interface Registry {
  /** The served resources; `definitions` are the present ones. */
  readonly served: ServedResources
  readonly definitions: readonly ResourceDefinition[]
  /** Synchronous reads of stored objects, as admission plugins use them. */
  readonly reader: ObjectReader
  /** Paces work on large input, across all requests of the server. */
  readonly turns: Turns
  /** The newest version of the store. */
  readonly resourceVersion: string
  /**
   * Waits until reads reflect every acknowledged write; `undefined` when no other process writes to the store.
   *
   * @throws StorageError `Unavailable`
   */
  refresh(): Promise<void> | undefined
  /** A served resource at one version. */
  resource(gvr: GroupVersionResource): ResourceDefinition | undefined
  /** The definition in the storage version, or in the first version served. */
  stored(group: string, resource: string): ResourceDefinition | undefined
  /** The store of a resource at the version of its definition; the same store for the same definition. */
  store(definition: ResourceDefinition): ResourceStore
  /** The store at the storage version; `undefined` when the resource is not served. */
  storeOf(resource: GroupResource): ResourceStore | undefined
  /** The stored objects of a resource, whether it is served or not. */
  collection(storage: GroupResource): StoredCollection
  /**
   * Corrects the record of assigned values, such as node ports, that servers on one store share. Does nothing when no other process writes
   * to the store.
   *
   * @returns the inconsistencies to report to users
   */
  repairAllocations(): Promise<readonly AllocationProblem[]>
}

/** The stored objects of a resource, independent of the served versions. */
export interface StoredCollection {
  /** Number of objects, read from an index. */
  count(): number
  /** Follows the objects, in the storage version. */
  follow(sink: CollectionSink, options: FollowOptions): Promise<Following>
}

/**
 * Creates the stores over one storage. `definitions` may change later through `served`.
 *
 * @example
 * import { createAdmissionChain } from '@krmkit/admission'
 * import { builtInKinds, builtInTypes } from '@krmkit/kinds'
 * import { createFeatures, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 * import { createRegistry, type RegistryEnvironment } from '@krmkit/registry'
 * import { memoryStorage } from '@krmkit/storage'
 * const environment: RegistryEnvironment = {
 *   storage: memoryStorage(),
 *   types: builtInTypes(),
 *   admission: createAdmissionChain([]),
 *   clock: systemClock,
 *   random: systemRandom,
 *   profile: stockProfile,
 *   features: createFeatures(),
 * }
 * const registry = createRegistry(environment, builtInKinds())
 * registry.storeOf({ group: '', resource: 'configmaps' })?.definition.kind.kind // 'ConfigMap'
 */
export function createRegistry(
  environment: RegistryEnvironment,
  definitions: readonly ResourceDefinition[] | ServedResources,
): Registry {
  const served = definitions instanceof ServedResources ? definitions : new ServedResources(definitions)
  const turns = createTurns()
  const objectCache = new ObjectCache({ turns })
  const fieldOwnership = new FieldOwnership(served, environment.features)
  const stores = new WeakMap<ResourceDefinition, ResourceStore>()
  const store = (definition: ResourceDefinition): ResourceStore => {
    let found = stores.get(definition)
    if (found === undefined) {
      found = new ResourceStore(definition, internals)
      stores.set(definition, found)
    }
    return found
  }
  const stored = (group: string, resource: string) => served.stored(group, resource)
  const storeOf = ({ group, resource }: GroupResource): ResourceStore | undefined => {
    const definition = stored(group, resource)
    return definition === undefined ? undefined : store(definition)
  }
  const internals: RegistryInternals = {
    environment,
    objectCache,
    fieldOwnership,
    storageNormalizer: new StorageNormalizer(),
    allocations: new Allocations(
      {
        profile: environment.profile,
        features: environment.features,
        serviceNetwork: environment.serviceNetwork,
        // A storage with `refresh` has other writers.
        shared: environment.storage.refresh === undefined ? undefined : createSharedAllocations(environment.storage, storeOf),
        follow: (resource, sink) => followForAllocator(storeOf(resource), sink),
      },
      environment.onError,
    ),
    keyedMutex: new KeyedMutex(environment.clock),
    turns,
    reader: createReader(environment, objectCache, served),
    writer: createWriter(storeOf),
    versionConverter: createVersionConverter(
      { ...environment, turns },
      served,
      (definition) => fieldOwnership.of(definition).types,
    ),
    served,
  }
  return {
    served,
    get definitions() {
      return served.definitions
    },
    get resourceVersion() {
      return String(environment.storage.revision)
    },
    refresh: () => waitForNewest(environment.storage),
    reader: internals.reader,
    turns,
    resource: (gvr) => served.find(gvr),
    stored,
    store,
    storeOf,
    async repairAllocations() {
      await environment.storage.refresh?.()
      return internals.allocations.repair(served.definitions)
    },
    collection(storage) {
      const prefix = collectionPrefix({ storage })
      return {
        count: () => environment.storage.count(prefix),
        follow: (sink, options) => followCollection({ storage: environment.storage, objectCache }, prefix, sink, options),
      }
    },
  }
}

async function followForAllocator(
  store: ResourceStore | undefined,
  sink: Parameters<ResourceStore['follow']>[0],
): Promise<(() => Promise<void>) | undefined> {
  // The signal never aborts, because allocators live as long as the registry.
  const following = await store?.follow(sink, { signal: new AbortController().signal })
  return following === undefined ? undefined : () => following.caughtUp()
}
