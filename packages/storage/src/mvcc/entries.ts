import type { Entry, Revision, StorageEvent } from '../interfaces.ts'

/** All entries and events are made here, so that each has one shape. */
export function makeEntry(
  key: string,
  value: Uint8Array,
  times: { revision: Revision; created: Revision; memo?: unknown },
): Entry {
  return { key, value, revision: times.revision, created: times.created, memo: times.memo }
}

export function putEvent(entry: Entry, previous: Entry | undefined): StorageEvent {
  return { type: 'put', key: entry.key, revision: entry.revision, entry, previous }
}

export function deleteEvent(entry: Entry, previous: Entry): StorageEvent {
  return { type: 'delete', key: entry.key, revision: entry.revision, entry, previous }
}

/**
 * The bytes in memory of their own size. A small view of a large buffer (Node cuts short strings out of shared 8 KiB
 * pools) would keep all of it alive for as long as the entry lives, so such views are copied once.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const wasted = bytes.buffer.byteLength - bytes.byteLength
  return wasted <= toleratedWasteBytes ? bytes : new Uint8Array(bytes)
}

const toleratedWasteBytes = 64
