import type { Entry, Revision, StorageEvent } from '../interfaces.ts'

/** The only constructors of entries and events, so that all objects share one hidden class. */
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
 * Bytes in a buffer of their own size. A small view of a large buffer (Node allocates short strings from shared 8 KiB pools)
 * would keep the whole buffer alive as long as the entry, so such views are copied once.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const wasted = bytes.buffer.byteLength - bytes.byteLength
  return wasted <= toleratedWasteBytes ? bytes : new Uint8Array(bytes)
}

const toleratedWasteBytes = 64
