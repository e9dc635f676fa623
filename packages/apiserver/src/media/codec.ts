import { equalBytes } from '@krmkit/base/bytes'
import { isLargeValue, runInLaterTurns, type Turns, whenDone } from '@krmkit/base/work'
import type { KindInfo, ResourceDefinition } from '@krmkit/kinds'
import {
  type Entry,
  type FrozenObject,
  largeBodyBytes,
  loadVersion,
  type ObjectCache,
  type ResourceStore,
  toVersion,
} from '@krmkit/registry'
import { encodeJson } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import { FrameCaches } from './frame-cache.ts'

/**
 * Converts stored entries to one served version. For the storage version, it returns the stored bytes; conversions to other versions are
 * cached per revision.
 */
export interface VersionCodec {
  readonly definition: ResourceDefinition
  /** Converts entries by webhook ahead of `object` and `bytes`; `undefined` when no entry needs it. */
  load(entries: Iterable<Entry>): Promise<void> | undefined
  /**
   * Parses, converts and encodes a loaded large entry in slices ahead of `object` or `bytes`; `undefined` when the entry is ready, as all
   * small entries are.
   */
  ready(entry: Entry, form: EntryForm, turns: Turns): Promise<unknown> | undefined
  object(entry: Entry): FrozenObject
  /** Whole JSON document with its final newline. */
  bytes(entry: Entry): Uint8Array
  /** Converts the result of a write, which may be a dry run, to this version. Returns a promise when the object is large. */
  present(object: FrozenObject, turns: Turns): FrozenObject | Promise<FrozenObject>
  /** Number of bytes of a document before the first member that follows `kind` and `apiVersion`. */
  readonly headLength: number
  /** Encoded watch events. */
  readonly frames: FrameCaches
}

/** Whether a caller needs the object of an entry or its bytes. */
export type EntryForm = 'object' | 'bytes'

interface Converted {
  readonly object: FrozenObject
  bytes: Uint8Array | undefined
}

export function createVersionCodec({ definition, objects }: ResourceStore): VersionCodec {
  const codec = undecoratedCodec({ definition, objects })
  const { decorate } = definition.strategy
  return decorate === undefined ? codec : decoratedCodec(codec, decorate)
}

function undecoratedCodec({ definition, objects }: Pick<ResourceStore, 'definition' | 'objects'>): VersionCodec {
  // Items of custom resource lists are whole objects, with members sorted by name.
  const headLength = definition.custom === undefined ? documentHead(definition.kind).byteLength : 1
  if (definition.conversion !== undefined) return webhookCodec(definition, objects, headLength)
  if (definition.fromStorage === undefined) {
    return {
      definition,
      headLength,
      frames: new FrameCaches(),
      load: () => undefined,
      ready: (entry, form) => (form === 'object' ? objects.parsing(entry) : undefined),
      object: (entry) => objects.objectOf(entry),
      bytes: (entry) => entry.value,
      present: (object) => object,
    }
  }
  const converted = new WeakMap<Entry, Converted | 'stored'>()
  // Most custom objects of the storage version need no conversion, and nothing is cached for them. Objects written since the last change of
  // the definition are known to need none; for older objects, comparing bytes shows it.
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
  const prepare = async (entry: Entry, form: EntryForm, turns: Turns): Promise<void> => {
    const stored = await objects.parsed(entry)
    if (mayBeStored && objects.isStoredAs(definition, entry)) return
    const known = converted.get(entry)
    if (known === 'stored') return
    const object = known?.object ?? (await (loadVersion(stored, definition, turns) ?? convert(stored)))
    const needsBytes = form === 'bytes' || mayBeStored
    const bytes = needsBytes ? await runInLaterTurns(paced.encodeJson(object, { newline: true }), turns) : undefined
    const isStored = mayBeStored && bytes !== undefined && equalBytes(bytes, entry.value)
    converted.set(entry, isStored ? 'stored' : { object, bytes })
  }
  const preparing = { object: new Pending<Entry>(), bytes: new Pending<Entry>() }
  return {
    definition,
    headLength,
    frames: new FrameCaches(),
    load: () => undefined,
    ready(entry, form, turns) {
      if (entry.value.byteLength <= largeBodyBytes) return undefined
      const isStored = mayBeStored && entry.memo !== undefined && objects.isStoredAs(definition, entry)
      const known = isStored ? 'stored' : converted.get(entry)
      if (known === 'stored') return form === 'object' ? objects.parsing(entry) : undefined
      if (known !== undefined && (form === 'object' || known.bytes !== undefined)) return undefined
      return preparing[form].run(entry, () => prepare(entry, form, turns))
    },
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
    present: (object, turns) => loadVersion(object, definition, turns) ?? convert(object),
  }
}

/** The codec of a version that a webhook converts to and from the storage version. Results of writes are already in this version. */
function webhookCodec(definition: ResourceDefinition, objects: ObjectCache, headLength: number): VersionCodec {
  const encoded = new WeakMap<FrozenObject, Uint8Array>()
  const object = (entry: Entry) => objects.get(definition, entry)
  const preparing = new Pending<FrozenObject>()
  return {
    definition,
    headLength,
    frames: new FrameCaches(),
    load: (entries) => objects.load(definition, entries),
    ready(entry, form, turns) {
      const shown = object(entry)
      if (form === 'object' || encoded.has(shown) || !isLargeValue(shown)) return undefined
      return preparing.run(shown, async () => {
        encoded.set(shown, await runInLaterTurns(paced.encodeJson(shown, { newline: true }), turns))
      })
    },
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

/** The codec of a kind that hides stored members from readers. It returns the bytes of the entry when nothing is hidden. */
function decoratedCodec(codec: VersionCodec, decorate: (object: FrozenObject) => FrozenObject): VersionCodec {
  const unchanged = new WeakSet<Entry>()
  return {
    ...codec,
    ready: (entry, form, turns) => codec.ready(entry, unchanged.has(entry) ? form : 'object', turns),
    object: (entry) => decorate(codec.object(entry)),
    bytes(entry) {
      if (unchanged.has(entry)) return codec.bytes(entry)
      const object = codec.object(entry)
      const shown = decorate(object)
      if (shown !== object) return encodeJson(shown, { newline: true })
      unchanged.add(entry)
      return codec.bytes(entry)
    },
    present(object, turns) {
      return whenDone(codec.present(object, turns), decorate)
    },
  }
}

/** Work that all who need its result wait for. */
class Pending<K extends object> {
  readonly #running = new WeakMap<K, Promise<void>>()

  run(key: K, start: () => Promise<void>): Promise<void> {
    let running = this.#running.get(key)
    if (running === undefined) {
      running = start().finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
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
