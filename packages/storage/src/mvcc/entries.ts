import type { Entry, Revision, StorageEvent } from '../interfaces.ts'

/** Reads values that are durable in the journal, so that they need not stay in memory. */
export interface ValueSource {
  /** @throws StorageError `Closed`, or `Unavailable` when the value cannot be read */
  readValue(entry: Pick<Entry, 'key' | 'revision'>): Uint8Array
}

interface EntryTimes {
  readonly revision: Revision
  readonly created: Revision
  readonly memo?: unknown
}

/** The value of a new entry: its bytes, or its length and the source to read it from. */
type EntryValue =
  | { readonly bytes: Uint8Array; readonly size: number; readonly source?: undefined }
  | { readonly bytes?: undefined; readonly size: number; readonly source: ValueSource }

/**
 * An entry whose value is in memory, or in the journal and read on demand:
 *
 *     in memory --superseded, and durable below--> past: each access reads below
 *     past --before it is removed below--> in memory
 *     restored by a restart: below --first access--> in memory
 */
class MvccEntry implements Entry {
  readonly key: string
  readonly revision: Revision
  readonly created: Revision
  memo: unknown
  /** Length of the value in bytes. */
  readonly size: number
  // Not private by `#`, so that test comparisons of entries include them.
  private bytes: Uint8Array | undefined
  private source: ValueSource | undefined
  /** Whether the entry is superseded, so that an access does not keep the value in memory. */
  private isPast = false

  constructor(key: string, times: EntryTimes, { bytes, size, source }: EntryValue) {
    this.key = key
    this.revision = times.revision
    this.created = times.created
    this.memo = times.memo
    this.size = size
    this.bytes = bytes
    this.source = source
  }

  get value(): Uint8Array {
    return this.bytes ?? this.#read()
  }

  release(source: ValueSource): void {
    this.bytes = undefined
    this.source = source
    this.isPast = true
  }

  hold(): void {
    this.isPast = false
    if (this.bytes === undefined) this.#read()
    this.source = undefined
  }

  #read(): Uint8Array {
    const { source } = this
    if (source === undefined) throw new Error(`the value of ${this.key} is neither in memory nor in the journal`)
    const bytes = source.readValue(this)
    if (!this.isPast) this.bytes = bytes
    return bytes
  }
}

/** This and `makeEntryBelow` are the only constructors of entries, so that all objects share one hidden class. */
export function makeEntry(key: string, value: Uint8Array, times: EntryTimes): Entry {
  return new MvccEntry(key, times, { bytes: value, size: value.byteLength })
}

/** An entry whose value is read on first access. @param size length of the value in bytes */
export function makeEntryBelow(
  key: string,
  { size, source, ...times }: EntryTimes & { readonly size: number; readonly source: ValueSource },
): Entry {
  return new MvccEntry(key, times, { size, source })
}

/** Length of the value in bytes; reads nothing. */
export function sizeOf(entry: Entry): number {
  return entry instanceof MvccEntry ? entry.size : entry.value.byteLength
}

/** Releases the value of a superseded entry from memory: later accesses read it from the source. */
export function releaseValue(entry: Entry, source: ValueSource): void {
  if (entry instanceof MvccEntry) entry.release(source)
}

/** Loads the value into memory before it is removed from the journal, because readers may hold the entry. */
export function holdValue(entry: Pick<Entry, 'revision'>): void {
  if (entry instanceof MvccEntry) entry.hold()
}

export function putEvent(entry: Entry, previous: Entry | undefined): StorageEvent {
  return { type: 'put', key: entry.key, revision: entry.revision, entry, previous }
}

export function deleteEvent(entry: Entry, previous: Entry): StorageEvent {
  return { type: 'delete', key: entry.key, revision: entry.revision, entry, previous }
}

/**
 * Returns the bytes in a buffer of the same size. A small view of a large buffer (Node allocates short strings from shared 8 KiB pools)
 * would keep the whole buffer alive as long as the entry, so such views are copied once.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const wasted = bytes.buffer.byteLength - bytes.byteLength
  return wasted <= toleratedWasteBytes ? bytes : new Uint8Array(bytes)
}

const toleratedWasteBytes = 64
