/**
 * The content of an etcd snapshot: a bbolt file, followed by the SHA-256 of its bytes.
 *
 *     bucket key     revision -> key, value and revisions of a write; the marked revisions are deletions
 *     bucket lease   identifier -> lifetime
 *     bucket meta    the revision of the last compaction, and the position in the log of the cluster, which a restore sets anew
 */
import type { Revision } from '../../interfaces.ts'

export const checksumBytes = 32
/** The length of a bbolt file is a multiple of this, so the remainder shows whether a checksum follows. */
export const blockBytes = 512

export const bucketNames = {
  key: 'key',
  lease: 'lease',
  meta: 'meta',
  /** Buckets that etcd expects and that are empty in a new cluster. */
  others: ['alarm', 'auth', 'authRoles', 'authUsers', 'cluster', 'members', 'members_removed'],
} as const

export const metaKeys = {
  scheduledCompaction: 'scheduledCompactRev',
  finishedCompaction: 'finishedCompactRev',
  term: 'term',
  index: 'consistent_index',
} as const

const separator = 0x5f
const plainBytes = 17
const tombstoneMark = 0x74

/** The position of a write: its revision, and its place among the writes of one transaction. */
export interface WritePosition {
  readonly revision: Revision
  readonly place: number
  readonly isDeletion: boolean
}

/** The key of a write in the bucket `key`. Revisions in the bucket `meta` have the same form. */
export function writePosition({ revision, place }: Omit<WritePosition, 'isDeletion'>): Buffer {
  const bytes = Buffer.alloc(plainBytes)
  bytes.writeBigUInt64BE(BigInt(revision), 0)
  bytes[8] = separator
  bytes.writeBigUInt64BE(BigInt(place), 9)
  return bytes
}

/** @returns undefined for other bytes */
export function readPosition(key: Uint8Array): WritePosition | undefined {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength)
  const isDeletion = bytes.length === plainBytes + 1 && bytes[plainBytes] === tombstoneMark
  if ((bytes.length !== plainBytes && !isDeletion) || bytes[8] !== separator) return undefined
  return { revision: Number(bytes.readBigUInt64BE(0)), place: Number(bytes.readBigUInt64BE(9)), isDeletion }
}

export function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
