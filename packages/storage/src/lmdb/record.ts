/**
 * Binary form of an event, stored under its revision.
 *
 *     offset 0   1 byte    0xa5 put, 0x5a delete
 *            1   4 bytes   length of the key in bytes, little-endian
 *            5   8 bytes   revision that created the key, a double, little-endian
 *           13   4 bytes   CRC-32 of all other bytes, combined with the revision by exclusive or; little-endian
 *           17   the key in UTF-8, then the value
 *
 * Format 1 has no checksum: the types are 1 and 2, and the key begins at 13. Such records are read, but no longer written.
 */

import { crc32, crc32ByTable } from '@krmkit/base/crc32'
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { makeEntry } from '../mvcc/entries.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'

export interface JournalRecord {
  readonly type: StorageEvent['type']
  readonly entry: Entry
}

const checksumAt = 13
const headerBytes = { plain: 13, checked: 17 } as const
/** The codes differ from each other, and from the codes of format 1, which has no checksum, in at least three bits. */
const typeCodes = { put: 0xa5, delete: 0x5a } as const
const formerTypeCodes = { put: 1, delete: 2 } as const
const typesByCode = new Map<number | undefined, StorageEvent['type']>([
  [typeCodes.put, 'put'],
  [typeCodes.delete, 'delete'],
  [formerTypeCodes.put, 'put'],
  [formerTypeCodes.delete, 'delete'],
])

/** Upper bound of the record size of an event, in bytes. */
export function maxRecordBytes(event: StorageEvent): number {
  return headerBytes.checked + 3 * event.key.length + event.entry.value.byteLength
}

/** The events with the values to store, as the transformer returns them. */
export function transformEvents(events: readonly StorageEvent[], transformer: ValueTransformer): readonly StorageEvent[] {
  if (transformer === identityTransformer) return events
  return events.map((event) => {
    const { key, value, revision, created } = event.entry
    const kept = transformer.toStorage({ key, path: Buffer.from(key) }, value)
    return kept === value ? event : { ...event, entry: makeEntry(key, kept, { revision, created }) }
  })
}

/** The record with its original value: reverses `transformEvents`. @throws StorageError `Unavailable` */
export function restoreRecord({ type, entry }: JournalRecord, transformer: ValueTransformer): JournalRecord {
  const { key, value, revision, created } = entry
  const restored = transformer.fromStorage({ key, path: Buffer.from(key), revision }, value)
  return restored === value ? { type, entry } : { type, entry: makeEntry(key, restored, { revision, created }) }
}

/** Writes a record to the buffer at `start`; returns the end position. */
export function writeRecord(buffer: Buffer, start: number, event: StorageEvent): number {
  const { key, value, created } = event.entry
  const keyBytes = buffer.write(key, start + headerBytes.checked, 'utf8')
  buffer[start] = typeCodes[event.type]
  buffer.writeUInt32LE(keyBytes, start + 1)
  buffer.writeDoubleLE(created, start + 5)
  const valueStart = start + headerBytes.checked + keyBytes
  buffer.set(value, valueStart)
  const end = valueStart + value.byteLength
  buffer.writeUInt32LE(checksumOf(buffer.subarray(start, end), event.entry.revision), start + checksumAt)
  return end
}

/** A record without its value, which begins at `valueStart`. */
export interface RecordHead {
  readonly type: StorageEvent['type']
  readonly key: string
  readonly created: Revision
  readonly valueStart: number
}

/**
 * Reads a record. The value is a view of `bytes`, which the store then owns.
 *
 * @returns undefined for malformed bytes and for a wrong checksum
 */
export function readRecord(bytes: Buffer, revision: Revision): JournalRecord | undefined {
  const head = readRecordHead(bytes, revision)
  return head === undefined ? undefined : withValue(head, bytes, revision)
}

/** The complete record, from a head that was read from the same bytes. */
export function withValue({ type, key, created, valueStart }: RecordHead, bytes: Buffer, revision: Revision): JournalRecord {
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + valueStart, bytes.length - valueStart)
  return { type, entry: makeEntry(key, value, { revision, created }) }
}

/** Like {@link readRecord}, but does not retain `bytes`. */
export function readRecordHead(bytes: Buffer, revision: Revision): RecordHead | undefined {
  const start = keyStartOf(bytes)
  if (start === undefined) return undefined
  if (start === headerBytes.checked && bytes.readUInt32LE(checksumAt) !== checksumOf(bytes, revision)) return undefined
  const type = typesByCode.get(bytes[0])
  const valueStart = start + bytes.readUInt32LE(1)
  const created = bytes.readDoubleLE(5)
  if (type === undefined || valueStart > bytes.length || !(created >= 1 && created <= revision)) return undefined
  return { type, key: bytes.toString('utf8', start, valueStart), created, valueStart }
}

/** The key of a damaged record; the key may be damaged too. Undefined when it cannot be found. */
export function readDamagedKey(bytes: Buffer): string | undefined {
  const start = keyStartOf(bytes)
  const key = start === undefined ? '' : bytes.toString('utf8', start, start + bytes.readUInt32LE(1))
  return /^\/\P{C}{0,4096}$/u.test(key) ? key : undefined
}

function keyStartOf(bytes: Buffer): number | undefined {
  const isFormer = bytes[0] === formerTypeCodes.put || bytes[0] === formerTypeCodes.delete
  const start = isFormer ? headerBytes.plain : headerBytes.checked
  return bytes.length < start ? undefined : start
}

/** The bytes before the checksum are too few for a call of native code to be faster. */
function checksumOf(record: Buffer, revision: Revision): number {
  return (crc32(record.subarray(headerBytes.checked), crc32ByTable(record, 0, checksumAt)) ^ revision) >>> 0
}
