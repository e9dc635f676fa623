import type { ObjectReader, ObjectWriter, VersionConverter } from '@krmkit/admission'
import type { Turns } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { GroupResource } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { Allocations } from './allocations.ts'
import type { ObjectCache } from './cache/object-cache.ts'
import type { FrozenObject, RegistryEnvironment } from './interfaces.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { FieldOwnership } from './ownership/field-ownership.ts'
import type { StorageNormalizer } from './versions/canonical-form.ts'
import type { ServedResources } from './versions/served-resources.ts'

/** State and services that all stores of one registry share. Never leaves this package. */
export interface RegistryInternals {
  readonly environment: RegistryEnvironment
  readonly reader: ObjectReader
  /** Writes of admission plugins. */
  readonly writer: ObjectWriter
  readonly versionConverter: VersionConverter
  readonly objectCache: ObjectCache
  readonly fieldOwnership: FieldOwnership
  readonly storageNormalizer: StorageNormalizer
  readonly allocations: Allocations
  /** Serializes writers that have lost a race for the same key. */
  readonly keyedMutex: KeyedMutex
  /** Paces work on large input, across all requests of the server. */
  readonly turns: Turns
  readonly served: ServedResources
}

/** `RegistryInternals` for the store of one resource at one version. */
export interface StoreInternals extends RegistryInternals {
  readonly definition: ResourceDefinition
}

/** The stored state that an update or deletion starts from. */
export interface StoredState {
  readonly entry: Entry
  readonly current: FrozenObject
}

/** The resource as errors name it. */
export function groupResource({ definition }: StoreInternals): GroupResource {
  return { group: definition.group, resource: definition.resource.name }
}
