import { deepFreeze } from '@krmkit/base/freeze'
import * as pacedBase from '@krmkit/base/paced'
import { isLargeValue, runInLaterTurns, type Turns } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { encodeJson } from '@krmkit/schema'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'
import { ConvertedObjects } from './converted-objects.ts'
import { parseStored, parseStoredInSlices } from './parse-stored.ts'

/** Larger bodies are parsed in slices, and weighed again after defaulting. */
export const largeBodyBytes = 64 * 1024

/**
 * Values derived from the bytes of a stored entry and kept with it, so that each is computed once for all readers.
 */
export interface CachedObject {
  /** Parsed form, frozen; evicted when many other objects were parsed since. */
  object: FrozenObject | undefined
  readonly labels: Readonly<Record<string, string>>
  /** Selectable fields, computed on first use by the definition in `fieldsOf`. */
  fields: Readonly<Record<string, string>> | undefined
  fieldsOf: ResourceDefinition | undefined
  /** The definition whose strategy prepared and validated the whole object when it was stored. */
  validatedBy: ResourceDefinition | undefined
  /** Sequence number of the last time the cache kept this object: 5 for the fifth object that it kept. 0: never kept. */
  keptAt: number
  /** Whether the object was read again soon after its eviction (see `#reuseWindow`), or replaces a reused object. */
  isReused: boolean
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({})

export interface ObjectCacheOptions {
  /** Maximum number of parsed objects. Default 2048. */
  readonly capacity?: number
  /** Maximum total size of the JSON of parsed objects, in bytes; the parsed form takes several times as much memory. Default 8 MiB. */
  readonly maxBytes?: number
  /** Paces the parsing of large entries. Absent: large entries are parsed in one step. */
  readonly turns?: Turns
}

/** Maximum number of recent objects: those that are not known to be reused. */
const maxRecent = 256
/** Share of `maxBytes` up to which reused objects displace recent ones. */
const reusedShare = 0.75

/**
 * Caches parsed objects within a bound. An evicted object is parsed again from its bytes.
 *
 *     written | parsed --> recent --256 others later--> evicted --needed again soon--> reused --oldest--> evicted
 *                                                       evicted --needed again late--> recent
 *
 * Most objects are needed only shortly after a write. Keeping them as long as reused objects would promote them to the old generation of
 * the garbage collector, where collection costs far more time and memory.
 */
export class ObjectCache {
  readonly #converted = new ConvertedObjects(
    (entry) => this.objectOf(entry),
    (object) => this.#freeze(object),
  )
  readonly #recent: ObjectRing
  readonly #reused: ObjectRing
  /**
   * An evicted object counts as reused when it is parsed again before this many objects have been kept since it was kept itself. Each
   * update keeps two objects: the old one and the new one.
   */
  readonly #reuseWindow: number
  readonly #maxBytes: number
  readonly #turns: Turns | undefined
  readonly #parsing = new WeakMap<Entry, Promise<FrozenObject>>()
  #kept = 0

  constructor({ capacity = 2048, maxBytes = 8 * 1024 * 1024, turns }: ObjectCacheOptions = {}) {
    const recent = Math.min(maxRecent, Math.ceil(capacity / 2))
    this.#recent = new ObjectRing(recent)
    this.#reused = new ObjectRing(Math.max(1, capacity - recent))
    this.#reuseWindow = 2 * capacity
    this.#maxBytes = maxBytes
    this.#turns = turns
  }

  /** Adds a parsed object. @param bytes length of its JSON. @param replaced the entry that it replaces */
  keep(cached: CachedObject, bytes: number, replaced?: Entry): void {
    this.#kept++
    cached.isReused = cached.keptAt > 0 ? this.#kept - cached.keptAt <= this.#reuseWindow : isReused(replaced)
    cached.keptAt = this.#kept
    while (this.#recent.bytes + this.#reused.bytes + bytes > this.#maxBytes) {
      const from = this.#recent.isEmpty || this.#reused.bytes > this.#maxBytes * reusedShare ? this.#reused : this.#recent
      if (from.isEmpty) break
      from.evictOldest()
    }
    const ring = cached.isReused ? this.#reused : this.#recent
    ring.add(cached, bytes)
  }

  entryOf(entry: Entry): CachedObject {
    if (entry.memo !== undefined) return entry.memo as CachedObject
    return this.#keepParsed(entry, parseStored(entry))
  }

  #keepParsed(entry: Entry, object: FrozenObject): CachedObject {
    entry.memo ??= this.newEntry(object)
    const cached = entry.memo as CachedObject
    cached.object = object
    this.keep(cached, entry.value.byteLength)
    return cached
  }

  objectOf(entry: Entry): FrozenObject {
    const { object } = this.entryOf(entry)
    if (object !== undefined) return object
    const parsed = parseStored(entry)
    this.#keepParsed(entry, parsed)
    return parsed
  }

  /** Like `objectOf`, but parses a large entry in slices. */
  parsed(entry: Entry): FrozenObject | Promise<FrozenObject> {
    return this.parsing(entry) ?? this.objectOf(entry)
  }

  /** Parses a large entry in slices. @returns `undefined` when it is parsed already, or parsing it takes no slices */
  parsing(entry: Entry): Promise<FrozenObject> | undefined {
    const known = (entry.memo as CachedObject | undefined)?.object
    if (known !== undefined || this.#turns === undefined || entry.value.byteLength <= largeBodyBytes) return undefined
    let parsing = this.#parsing.get(entry)
    if (parsing === undefined) {
      parsing = parseStoredInSlices(entry, this.#turns)
        .then((object) => this.#keepParsed(entry, object).object ?? object)
        .finally(() => this.#parsing.delete(entry))
      this.#parsing.set(entry, parsing)
    }
    return parsing
  }

  #freeze(object: ApiObject): FrozenObject | Promise<FrozenObject> {
    if (this.#turns === undefined || !isLargeValue(object)) return deepFreeze(object)
    return runInLaterTurns(pacedBase.deepFreeze(object), this.#turns)
  }

  /** Whether a definition shows an entry exactly as stored: it was written in the same version by the same strategy. */
  isStoredAs(definition: ResourceDefinition, entry: Entry): boolean {
    return definition.version === definition.storage.version && this.entryOf(entry).validatedBy === definition
  }

  /** Parses large entries and converts entries ahead of `get`; `undefined` when no entry needs either. */
  load(definition: ResourceDefinition, entries: Iterable<Entry>): Promise<void> | undefined {
    const parsing: Promise<FrozenObject>[] = []
    const all = [...entries]
    for (const entry of all) {
      const one = this.parsing(entry)
      if (one !== undefined) parsing.push(one)
    }
    const convert = () => (definition.conversion === undefined ? undefined : this.#converted.load(definition, all))
    return parsing.length === 0 ? convert() : Promise.all(parsing).then(convert)
  }

  /**
   * Like `load`, for callers that only evaluate selectors. The selectable fields of an entry outlive its parsed object, so the entry may
   * need no loading.
   */
  loadSelected(definition: ResourceDefinition, entry: Entry): Promise<void> | undefined {
    const cached = entry.memo as CachedObject | undefined
    if (definition.conversion === undefined && cached?.fieldsOf === definition) return undefined
    return this.load(definition, [entry])?.then(() => {
      this.fieldsOf(entry, definition)
    })
  }

  /** The object that writes of a definition start from: as stored, or as converted by webhook. */
  get(definition: ResourceDefinition, entry: Entry): FrozenObject {
    return definition.conversion === undefined ? this.objectOf(entry) : this.#converted.get(definition, entry)
  }

  /** `get`, after `load`. */
  async read(definition: ResourceDefinition, entry: Entry): Promise<FrozenObject> {
    await this.load(definition, [entry])
    return this.get(definition, entry)
  }

  /** The cache entry of an object that is being written. */
  newEntry(object: FrozenObject): CachedObject {
    return {
      object: undefined,
      labels: object.metadata.labels ?? noLabels,
      fields: undefined,
      fieldsOf: undefined,
      validatedBy: undefined,
      keptAt: 0,
      isReused: false,
    }
  }

  /** Labels for selectors, in the version of the definition. Entries that a webhook converts must be loaded. */
  labelsOf(entry: Entry, definition: ResourceDefinition): Readonly<Record<string, string>> {
    if (definition.conversion === undefined) return this.entryOf(entry).labels
    return this.get(definition, entry).metadata.labels ?? noLabels
  }

  /** Field selectors of custom resources match the converted object, with the present defaults of the version. */
  #selected(definition: ResourceDefinition, entry: Entry): FrozenObject {
    const object = this.get(definition, entry)
    const { custom, fromStorage } = definition
    const isPlain = custom?.selectableFields === undefined || fromStorage === undefined || this.isStoredAs(definition, entry)
    return isPlain ? object : (fromStorage(object) as FrozenObject)
  }

  /** The field values that selectors match. */
  fieldsOf(entry: Entry, definition: ResourceDefinition): Readonly<Record<string, string>> {
    const cached = this.entryOf(entry)
    if (cached.fields === undefined || cached.fieldsOf !== definition) {
      cached.fields = selectableFields(this.#selected(definition, entry), definition)
      cached.fieldsOf = definition
    }
    return cached.fields
  }
}

/** Parsed objects in the order in which they were kept. Eviction drops the parsed object; labels and selectable fields stay cached. */
class ObjectRing {
  /** A ring buffer: the oldest object is `#count` places before `#next`. */
  readonly #ring: (CachedObject | undefined)[]
  readonly #sizes: Float64Array
  #next = 0
  #count = 0
  #bytes = 0

  constructor(capacity: number) {
    this.#ring = new Array<CachedObject | undefined>(capacity).fill(undefined)
    this.#sizes = new Float64Array(capacity)
  }

  /** Total size of the kept objects. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Adds an object, and evicts the oldest one of a full ring. */
  add(cached: CachedObject, bytes: number): void {
    if (this.#count === this.#ring.length) this.evictOldest()
    this.#ring[this.#next] = cached
    this.#sizes[this.#next] = bytes
    this.#next = (this.#next + 1) % this.#ring.length
    this.#count++
    this.#bytes += bytes
  }

  /** Requires that the ring is not empty. */
  evictOldest(): void {
    const at = (this.#next - this.#count + this.#ring.length) % this.#ring.length
    const oldest = this.#ring[at]
    if (oldest !== undefined) oldest.object = undefined
    this.#ring[at] = undefined
    this.#bytes -= this.#sizes[at] as number
    this.#count--
  }
}

function isReused(entry: Entry | undefined): boolean {
  return (entry?.memo as CachedObject | undefined)?.isReused === true
}

export function selectableFields(object: FrozenObject, definition: ResourceDefinition): Record<string, string> {
  const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' }
  if (definition.kind.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? ''
  for (const [path, read] of Object.entries(definition.strategy.selectableFields ?? {})) fields[path] = read(object)
  return fields
}

/** The stored and served form: canonical JSON and a final newline. */
export function encodeStored(object: object): Uint8Array {
  return encodeJson(object, { newline: true })
}
