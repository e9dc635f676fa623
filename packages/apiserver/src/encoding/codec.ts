import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import { equalBytes } from '@krmkit/meta/bytes'
import type { SliceScheduler } from '@krmkit/meta/slices'
import { type Entry, type FrozenObject, loadVersion, type ObjectCache, type ResourceStore, toVersion } from '@krmkit/registry'
import { encodeJson } from '@krmkit/schema'
import { FrameCaches } from './frame-cache.ts'

/**
 * Shows stored entries in one served version: the stored bytes where that is the storage version, otherwise a conversion that is
 * cached per revision.
 */
export interface VersionCodec {
  readonly definition: ResourceDefinition
  /** Converts entries by webhook ahead of `object` and `bytes`; `undefined` when there is nothing to wait for. */
  load(entries: Iterable<Entry>): Promise<void> | undefined
  object(entry: Entry): FrozenObject
  /** Whole JSON document with its final newline. */
  bytes(entry: Entry): Uint8Array
  /** The result of a write, which is not stored in a dry run, in this version; a promise where it is large. */
  present(object: FrozenObject, scheduler: SliceScheduler): FrozenObject | Promise<FrozenObject>
  /** Bytes of a document before its first member after `kind` and `apiVersion`. */
  readonly headLength: number
  /** Encoded watch events. */
  readonly frames: FrameCaches
}

interface Converted {
  readonly object: FrozenObject
  bytes: Uint8Array | undefined
}

export function createVersionCodec({ definition, objects }: ResourceStore): VersionCodec {
  // Items in lists of custom resources are whole objects with members in name order.
  const headLength = definition.custom === undefined ? documentHead(definition.kind).byteLength : 1
  if (definition.conversion !== undefined) return webhookCodec(definition, objects, headLength)
  if (definition.fromStorage === undefined) {
    return {
      definition,
      headLength,
      frames: new FrameCaches(),
      load: () => undefined,
      object: (entry) => objects.objectOf(entry),
      bytes: (entry) => entry.value,
      present: (object) => object,
    }
  }
  const converted = new WeakMap<Entry, Converted | 'stored'>()
  // Most custom objects of the storage version need no conversion, and nothing is cached for them: those written since the
  // definition last changed are known, the others are recognised by comparing bytes.
  const mayBeStored = definition.custom !== undefined && definition.version === definition.storage.version
  const convert = (object: FrozenObject): FrozenObject => toVersion(object, definition)
  const of = (entry: Entry): Converted | 'stored' => {
    let found = converted.get(entry)
    if (found === undefined) {
      if (mayBeStored && objects.isStoredAs(definition, entry)) return 'stored'
      const object = convert(objects.objectOf(entry))
      const bytes = mayBeStored ? encodeJson(object, { newline: true }) : undefined
      found = bytes !== undefined && equalBytes(bytes, entry.value) ? 'stored' : { object, bytes }
      converted.set(entry, found)
    }
    return found
  }
  return {
    definition,
    headLength,
    frames: new FrameCaches(),
    load: () => undefined,
    object(entry) {
      const found = of(entry)
      return found === 'stored' ? objects.objectOf(entry) : found.object
    },
    bytes(entry) {
      const found = of(entry)
      if (found === 'stored') return entry.value
      found.bytes ??= encodeJson(found.object, { newline: true })
      return found.bytes
    },
    present: (object, scheduler) => loadVersion(object, definition, scheduler) ?? convert(object),
  }
}

/** A webhook converts between this version and storage; writes work with objects of this version. */
function webhookCodec(definition: ResourceDefinition, objects: ObjectCache, headLength: number): VersionCodec {
  const encoded = new WeakMap<FrozenObject, Uint8Array>()
  const object = (entry: Entry) => objects.seen(definition, entry)
  return {
    definition,
    headLength,
    frames: new FrameCaches(),
    load: (entries) => objects.load(definition, entries),
    object,
    bytes(entry) {
      const shown = object(entry)
      const known = encoded.get(shown)
      if (known !== undefined) return known
      const bytes = encodeJson(shown, { newline: true })
      encoded.set(shown, bytes)
      return bytes
    },
    present: (shown) => shown,
  }
}

/** The opening of every document of a built-in kind: `{"kind":"Pod","apiVersion":"v1",`. */
function documentHead({ group, version, kind }: Pick<KindInfo, 'group' | 'version' | 'kind'>): Uint8Array {
  return new TextEncoder().encode(`{"kind":"${kind}","apiVersion":"${apiVersionOf(group, version)}",`)
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** A document without its opening, `kind`, `apiVersion` and final newline. */
export function memberBytes(codec: VersionCodec, entry: Entry): Uint8Array {
  const bytes = codec.bytes(entry)
  return bytes.subarray(codec.headLength, bytes.byteLength - 1)
}
