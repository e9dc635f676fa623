import { internFieldsV1 } from '@krmkit/fieldmanager'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { encodeJson, parseJson } from '@krmkit/schema'
import type { Entry } from '@krmkit/storage'
import { ConvertedObjects } from './converted-objects.ts'
import type { FrozenObject } from './interfaces.ts'

/**
 * What the registry derives from stored bytes and keeps with them, so that each is worked out once however many readers
 * there are.
 */
export interface Note {
  /** Parsed form, frozen; dropped when many others were used since. */
  object: FrozenObject | undefined
  readonly labels: Readonly<Record<string, string>>
  /** Selectable fields, worked out on first use, and the definition that named them. */
  fields: Readonly<Record<string, string>> | undefined
  fieldsOf: ResourceDefinition | undefined
  /** The definition by whose rules the object was prepared and validated as a whole when it was stored. */
  settledBy: ResourceDefinition | undefined
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({})

export interface ParsedObjectsOptions {
  /** Objects whose parsed form is kept at most. Default 2048. */
  readonly capacity?: number
  /** Bytes of their JSON at most; the parsed form takes several times as much. Default 32 MiB. */
  readonly maxBytes?: number
}

/** Bounds how many parsed objects stay in memory: the bytes stay, the parsed form of those not used lately goes. */
export class ParsedObjects {
  readonly #converted = new ConvertedObjects((entry) => this.objectOf(entry), deepFreeze)
  /** A ring: the oldest of `#count` notes stands that many places before `#next`. */
  readonly #notes: (Note | undefined)[]
  readonly #sizes: Float64Array
  readonly #maxBytes: number
  #next = 0
  #count = 0
  #bytes = 0

  constructor({ capacity = 2048, maxBytes = 32 * 1024 * 1024 }: ParsedObjectsOptions = {}) {
    this.#notes = new Array<Note | undefined>(capacity).fill(undefined)
    this.#sizes = new Float64Array(capacity)
    this.#maxBytes = maxBytes
  }

  /** @param bytes length of the JSON of the object. */
  keep(note: Note, bytes: number): void {
    while (this.#count > 0 && (this.#count === this.#notes.length || this.#bytes + bytes > this.#maxBytes)) this.#dropOldest()
    this.#notes[this.#next] = note
    this.#sizes[this.#next] = bytes
    this.#next = (this.#next + 1) % this.#notes.length
    this.#count++
    this.#bytes += bytes
  }

  #dropOldest(): void {
    const at = (this.#next - this.#count + this.#notes.length) % this.#notes.length
    const oldest = this.#notes[at]
    if (oldest !== undefined) oldest.object = undefined
    this.#notes[at] = undefined
    this.#bytes -= this.#sizes[at] as number
    this.#count--
  }

  noteOf(entry: Entry): Note {
    if (entry.note !== undefined) return entry.note as Note
    const object = parse(entry)
    const note: Note = {
      object,
      labels: object.metadata.labels ?? noLabels,
      fields: undefined,
      fieldsOf: undefined,
      settledBy: undefined,
    }
    entry.note = note
    this.keep(note, entry.value.byteLength)
    return note
  }

  objectOf(entry: Entry): FrozenObject {
    const note = this.noteOf(entry)
    if (note.object === undefined) {
      note.object = parse(entry)
      this.keep(note, entry.value.byteLength)
    }
    return note.object
  }

  /** Whether an entry was written by the rules of a definition, in its version: it looks just as it is stored. */
  isStoredAs(definition: ResourceDefinition, entry: Entry): boolean {
    return definition.version === definition.storage.version && this.noteOf(entry).settledBy === definition
  }

  /** Makes entries ready to be `seen` through a version; undefined when there is nothing to wait for. */
  load(definition: ResourceDefinition, entries: Iterable<Entry>): Promise<void> | undefined {
    return this.#converted.load(definition, entries)
  }

  /** The object that writes of a definition work with: as stored, or as loaded where others translate. */
  seen(definition: ResourceDefinition, entry: Entry): FrozenObject {
    return this.#converted.seen(definition, entry)
  }

  /** As `seen`, loaded first. */
  async read(definition: ResourceDefinition, entry: Entry): Promise<FrozenObject> {
    const loading = this.load(definition, [entry])
    if (loading !== undefined) await loading
    return this.seen(definition, entry)
  }

  /** The note of an object that is being written. */
  newNote(object: FrozenObject): Note {
    return {
      object: undefined,
      labels: object.metadata.labels ?? noLabels,
      fields: undefined,
      fieldsOf: undefined,
      settledBy: undefined,
    }
  }

  /** Labels that selectors ask for: those of the object as a version shows it, which has to be loaded where others translate. */
  labelsOf(entry: Entry, definition: ResourceDefinition): Readonly<Record<string, string>> {
    if (definition.conversion === undefined) return this.noteOf(entry).labels
    return this.seen(definition, entry).metadata.labels ?? noLabels
  }

  /** Custom resources are selected by what is shown of them: with defaults of today, by the schema of the version. */
  #selected(definition: ResourceDefinition, entry: Entry): FrozenObject {
    const object = this.seen(definition, entry)
    const { custom, fromStorage } = definition
    const isPlain = custom?.selectableFields === undefined || fromStorage === undefined || this.isStoredAs(definition, entry)
    return isPlain ? object : (fromStorage(object) as FrozenObject)
  }

  /** Fields that selectors may ask for. */
  fieldsOf(entry: Entry, definition: ResourceDefinition): Readonly<Record<string, string>> {
    const note = this.noteOf(entry)
    if (note.fields === undefined || note.fieldsOf !== definition) {
      note.fields = selectableFields(this.#selected(definition, entry), definition)
      note.fieldsOf = definition
    }
    return note.fields
  }
}

export function selectableFields(object: FrozenObject, definition: ResourceDefinition): Record<string, string> {
  const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' }
  if (definition.kind.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? ''
  for (const [path, read] of Object.entries(definition.policy.selectableFields ?? {})) fields[path] = read(object)
  return fields
}

/** Bytes as they are stored and served: canonical JSON and a final newline. */
export function encodeStored(object: object): Uint8Array {
  return encodeJson(object, { newline: true })
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0
}

function parse(entry: Entry): FrozenObject {
  const object = parseJson(entry.value).value as ApiObject
  // The same few for most objects of a kind: one copy for all of them weighs far less.
  for (const owner of object.metadata?.managedFields ?? []) {
    if (owner.fieldsV1 !== undefined) owner.fieldsV1 = internFieldsV1(owner.fieldsV1)
  }
  return deepFreeze(object)
}

/** Freezes a plain JSON value at every level. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key in value) deepFreeze(value[key])
  }
  return value
}
