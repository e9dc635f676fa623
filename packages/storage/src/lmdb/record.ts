/**
 * Binary form of an event, stored under its revision.
 *
 *     offset 0   1 byte    1 put, 2 delete
 *            1   4 bytes   length of the key in bytes, little-endian
 *            5   8 bytes   revision that created the key, a double, little-endian
 *           13   the key in UTF-8, then the value
 */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { makeEntry } from '../mvcc/entries.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'

export interface JournalRecord {
  readonly type: StorageEvent['type']
  readonly entry: Entry
}

const headerBytes = 13
const typeCodes = { put: 1, delete: 2 } as const

/** Upper bound of the record size of an event, in bytes. */
export function maxRecordBytes(event: StorageEvent): number {
  return headerBytes + 3 * event.key.length + event.entry.value.byteLength
}

/** The events with the values to keep. */
export function transformEvents(events: readonly StorageEvent[], transformer: ValueTransformer): readonly StorageEvent[] {
  if (transformer === identityTransformer) return events
  return events.map((event) => {
    const { key, value, revision, created } = event.entry
    const kept = transformer.toStorage({ key, path: Buffer.from(key) }, value)
    return kept === value ? event : { ...event, entry: makeEntry(key, kept, { revision, created }) }
  })
}

/** The record of a value that `transformEvents` changed, as it was before. @throws StorageError `Unavailable` */
export function restoreRecord({ type, entry }: JournalRecord, transformer: ValueTransformer): JournalRecord {
  const { key, value, revision, created } = entry
  const restored = transformer.fromStorage({ key, path: Buffer.from(key), revision }, value)
  return restored === value ? { type, entry } : { type, entry: makeEntry(key, restored, { revision, created }) }
}

/** Writes a record to the buffer at `start`; returns the end position. */
export function writeRecord(buffer: Buffer, start: number, event: StorageEvent): number {
  const { key, value, created } = event.entry
  const keyBytes = buffer.write(key, start + headerBytes, 'utf8')
  buffer[start] = typeCodes[event.type]
  buffer.writeUInt32LE(keyBytes, start + 1)
  buffer.writeDoubleLE(created, start + 5)
  const valueStart = start + headerBytes + keyBytes
  buffer.set(value, valueStart)
  return valueStart + value.byteLength
}

/**
 * Reads a record. The value is a view of `bytes`, which the store then owns.
 *
 * @returns undefined for malformed bytes
 */
export function readRecord(bytes: Buffer, revision: Revision): JournalRecord | undefined {
  if (bytes.length < headerBytes) return undefined
  const type = bytes[0] === typeCodes.put ? 'put' : bytes[0] === typeCodes.delete ? 'delete' : undefined
  const valueStart = headerBytes + bytes.readUInt32LE(1)
  const created = bytes.readDoubleLE(5)
  if (type === undefined || valueStart > bytes.length || !(created >= 1 && created <= revision)) return undefined
  const key = bytes.toString('utf8', headerBytes, valueStart)
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + valueStart, bytes.length - valueStart)
  return { type, entry: makeEntry(key, value, { revision, created }) }
}
