/**
 * The file format of bbolt, the embedded database in which etcd keeps its data: pages of one size, all numbers little-endian.
 *
 *     page     8 bytes number, 2 bytes kind, 2 bytes count of elements, 4 bytes count of further pages that belong to it
 *     meta     pages 0 and 1, the valid one with the higher transaction applies: where the root bucket is
 *     leaf     elements (flags, position, key size, value size), then keys and values; the value of a bucket describes its tree
 *     branch   elements (position, key size, page number), then keys: the first key of each page below
 *
 * A bucket with page number 0 is stored inline: its only leaf follows its header.
 */

export const pageHeaderBytes = 16
/** Size of the header of an element of a leaf or branch. The position in it is relative to the start of the header. */
export const elementBytes = 16
/** Page number of the root and a sequence number that etcd does not use. */
export const bucketHeaderBytes = 16
export const bucketFlag = 1
export const pageKinds = { branch: 1, leaf: 2, meta: 4 } as const

const magic = 0xed0cdaed
const version = 2
const metaBytes = 64
const metaAt = {
  magic: 0,
  version: 4,
  pageSize: 8,
  root: 16,
  freePages: 32,
  pages: 40,
  transaction: 48,
  checksum: 56,
} as const
/** Page number that means that no page lists the free pages; readers find free pages by reading all trees. */
const noFreePageList = 0xffff_ffff_ffff_ffffn

export interface Meta {
  readonly pageSize: number
  /** Page of the root bucket. */
  readonly root: number
  /** Number of pages. */
  readonly pages: number
  readonly transaction: bigint
}

/** Number of bytes at the start of a file that identify it as a bbolt file. */
export const headBytes = pageHeaderBytes + metaBytes

export function writeMeta(page: Buffer, { pageSize, root, pages, transaction }: Meta): void {
  const meta = page.subarray(pageHeaderBytes, headBytes)
  meta.writeUInt32LE(magic, metaAt.magic)
  meta.writeUInt32LE(version, metaAt.version)
  meta.writeUInt32LE(pageSize, metaAt.pageSize)
  meta.writeBigUInt64LE(BigInt(root), metaAt.root)
  meta.writeBigUInt64LE(noFreePageList, metaAt.freePages)
  meta.writeBigUInt64LE(BigInt(pages), metaAt.pages)
  meta.writeBigUInt64LE(transaction, metaAt.transaction)
  meta.writeBigUInt64LE(checksumOf(meta), metaAt.checksum)
}

/** @param page bytes that begin with the page header @returns undefined unless it is a meta page with the right checksum */
export function readMeta(page: Buffer): Meta | undefined {
  if (!hasBoltMagic(page)) return undefined
  const meta = page.subarray(pageHeaderBytes, headBytes)
  if (meta.readUInt32LE(metaAt.version) !== version || meta.readBigUInt64LE(metaAt.checksum) !== checksumOf(meta))
    return undefined
  return {
    pageSize: meta.readUInt32LE(metaAt.pageSize),
    root: Number(meta.readBigUInt64LE(metaAt.root)),
    pages: Number(meta.readBigUInt64LE(metaAt.pages)),
    transaction: meta.readBigUInt64LE(metaAt.transaction),
  }
}

/** Whether these are the first bytes of a bbolt file, at least {@link headBytes} of them. */
export function hasBoltMagic(head: Buffer): boolean {
  return head.length >= headBytes && head.readUInt32LE(pageHeaderBytes + metaAt.magic) === magic
}

const fnvOffset = 0xcbf29ce484222325n
const fnvPrime = 0x100000001b3n

/** FNV-1a of 64 bits, of all members before the checksum. */
function checksumOf(meta: Buffer): bigint {
  let hash = fnvOffset
  for (const byte of meta.subarray(0, metaAt.checksum)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime)
  return hash
}
