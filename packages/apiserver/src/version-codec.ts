import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { FrozenObject, ObjectCache } from '@krmkit/registry'
import { encodeJson, normalize } from '@krmkit/schema'
import type { Entry } from '@krmkit/storage'
import { FrameCache } from './frame-cache.ts'

/**
 * How stored entries look through one served version: the stored bytes themselves where that is the storage version, a
 * conversion that is worked out once for each revision everywhere else.
 */
export interface VersionCodec {
  readonly definition: ResourceDefinition
  /** Waits until entries can be looked at, where others translate them; undefined when that is so already. */
  load(entries: Iterable<Entry>): Promise<void> | undefined
  object(entry: Entry): FrozenObject
  /** Whole JSON document with its final newline. */
  bytes(entry: Entry): Uint8Array
  /** The object of a write, which may not have been stored (a dry run), in this version. */
  present(object: FrozenObject): FrozenObject
  /** From a body of this version to the storage version; the result is the caller's own. */
  toStorage(object: ApiObject): ApiObject
  /** How many bytes open a document before its first member after `kind` and `apiVersion`. */
  readonly headLength: number
  /** Watch events that are encoded already. */
  readonly frames: FrameCache
}

interface Converted {
  readonly object: FrozenObject
  bytes: Uint8Array | undefined
}

export function createVersionCodec(definition: ResourceDefinition, parsed: ObjectCache): VersionCodec {
  // Items of custom resources are whole objects, whose members come in the order of their names.
  const headLength = definition.custom === undefined ? documentHead(definition.kind).byteLength : 1
  const { toStorage, fromStorage } = definition
  if (definition.conversion !== undefined) return translatedView(definition, parsed, headLength)
  if (fromStorage === undefined || toStorage === undefined) {
    return {
      definition,
      headLength,
      frames: new FrameCache(),
      load: () => undefined,
      object: (entry) => parsed.objectOf(entry),
      bytes: (entry) => entry.value,
      present: (object) => object,
      toStorage: (object) => object,
    }
  }
  const converted = new WeakMap<Entry, Converted | 'stored'>()
  const type = definition.kind.type
  // Most objects of the stored version of a custom resource look just as they are stored: nothing is kept of those. Which they
  // are is known of what was written since the definition last changed, and seen by comparing of the rest.
  const mayBeStored = definition.custom !== undefined && definition.version === definition.storage.version
  const convert = (object: FrozenObject): FrozenObject => normalize(type(), fromStorage(object)) as DeepReadonly<ApiObject>
  const of = (entry: Entry): Converted | 'stored' => {
    let found = converted.get(entry)
    if (found === undefined) {
      if (mayBeStored && parsed.isStoredAs(definition, entry)) return 'stored'
      const object = convert(parsed.objectOf(entry))
      const bytes = mayBeStored ? encodeJson(object, { newline: true }) : undefined
      found = bytes !== undefined && Buffer.compare(bytes, entry.value) === 0 ? 'stored' : { object, bytes }
      converted.set(entry, found)
    }
    return found
  }
  return {
    definition,
    headLength,
    frames: new FrameCache(),
    load: () => undefined,
    object(entry) {
      const found = of(entry)
      return found === 'stored' ? parsed.objectOf(entry) : found.object
    },
    bytes(entry) {
      const found = of(entry)
      if (found === 'stored') return entry.value
      found.bytes ??= encodeJson(found.object, { newline: true })
      return found.bytes
    },
    present: convert,
    toStorage: (object) => toStorage(object),
  }
}

/** Writes work with the objects of this version, so that they are translated between it and storage only. */
function translatedView(definition: ResourceDefinition, parsed: ObjectCache, headLength: number): VersionCodec {
  const encoded = new WeakMap<FrozenObject, Uint8Array>()
  const object = (entry: Entry) => parsed.seen(definition, entry)
  return {
    definition,
    headLength,
    frames: new FrameCache(),
    load: (entries) => parsed.load(definition, entries),
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
    toStorage: (shown) => shown,
  }
}

/** `{"kind":"Pod","apiVersion":"v1",`: how every document of a built-in kind begins. */
function documentHead({ group, version, kind }: Pick<KindInfo, 'group' | 'version' | 'kind'>): Uint8Array {
  return new TextEncoder().encode(`{"kind":"${kind}","apiVersion":"${apiVersionOf(group, version)}",`)
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** A document without its opening, `kind`, `apiVersion` and final newline. */
export function memberBytes(view: VersionCodec, entry: Entry): Uint8Array {
  const bytes = view.bytes(entry)
  return bytes.subarray(view.headLength, bytes.byteLength - 1)
}
