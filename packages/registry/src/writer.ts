import type { ObjectConvertor, ObjectReader, ObjectWriter } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { GroupKind, SliceScheduler } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { RegistryEnvironment } from './interfaces.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import type { ObjectCache } from './object-cache.ts'
import type { OwnedKinds } from './ownership.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import type { StorageNormalizer } from './storage-normalizer.ts'

/** Everything the write verbs share. */
export interface Writer {
  readonly environment: RegistryEnvironment
  readonly reader: ObjectReader
  /** Writes on behalf of admission plugins. */
  readonly objects: ObjectWriter
  /** The versions of objects. */
  readonly convertor: ObjectConvertor
  readonly objectCache: ObjectCache
  readonly owned: OwnedKinds
  readonly storageNormalizer: StorageNormalizer
  readonly addresses: ServiceAddresses
  /** Of those who lost a race for an object. */
  readonly keyedMutex: KeyedMutex
  /** Paces work on large input; shared by everything that the server does. */
  readonly slices: SliceScheduler
  /** The definition whose version is the stored one (or comes first), whatever version was asked for. */
  stored(group: string, resource: string): ResourceDefinition | undefined
}

/** Refusals name the kind as it is stored, whatever version was asked for. */
export function storedKind(writer: Writer, definition: ResourceDefinition): GroupKind {
  const { group, resource } = definition.storage
  const { kind } = writer.stored(group, resource) ?? definition
  return { group: kind.group, kind: kind.kind }
}

/** Type of the objects as they are stored, which the version of a request may differ from. */
export function storedType(writer: Writer, definition: ResourceDefinition): StructType {
  const { group, resource } = definition.storage
  return (writer.stored(group, resource) ?? definition).kind.type()
}
