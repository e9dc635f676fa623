/** The LMDB environment of a store: its tables, its format, and how it is opened for writing, for reading, and to create it. */

import { crc32 } from '@krmkit/base/crc32'
import type { Database, RootDatabase } from 'lmdb'
import type { Revision } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { missingStore, unavailable } from './data-dir.ts'

const format = 'krmkit-storage 2'
/** Former formats, which this version reads, and upgrades when it opens a store for writing. */
const formerFormats = ['krmkit-storage 1']
const tableNames = ['facts', 'records']
/** With this size, typical objects of 1 to 4 KB neither waste half a page nor need overflow pages. */
const pageSize = 8192
const metaPages = 2
/**
 * Address space for the file, which takes no memory. When a file outgrows its map, LMDB creates a second map and keeps the first, so that
 * pages in both count twice. The default is 128 KiB.
 */
const mapSize = 8 * 2 ** 30
const asBinary = { encoding: 'binary', cache: false } as const

/** LMDB reads small values into a shared buffer and copies them, unless a decoder is set. */
const inPlace = {
  encoder: {
    encode: (value: Buffer) => value,
    decode: (bytes: Buffer) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
  },
  cache: false,
} as const

type ReadTransaction = ReturnType<RootDatabase['useReadTransaction']>

export interface RecordReader {
  get(key: Revision): Buffer | undefined
  getRange(options?: {
    readonly transaction: ReadTransaction
    readonly start?: Revision
  }): Iterable<{ key: Revision; value: Buffer }>
}

export interface RecordTable extends RecordReader {
  getKeysCount(options?: { readonly transaction: ReadTransaction }): number
  getKeys(options: { readonly reverse: true; readonly limit: 1 }): Iterable<Revision>
  /** Resolves to false unless the key is greater than all others. */
  put(key: Revision, value: Uint8Array, options: { readonly append: true }): Promise<boolean>
  remove(key: Revision): Promise<boolean>
  batch(fn: () => void): Promise<boolean>
  getStats(): object
}

export type MetadataTable = Database<Buffer, string>

export interface Environment {
  readonly root: RootDatabase
  readonly metadata: MetadataTable
  readonly records: RecordTable
  /** The same records without copying: a buffer is valid only until the next read. */
  readonly recordsInPlace: RecordReader
}

/**
 * Opens the tables. `check` runs before the format is compared.
 *
 * @throws StorageError `Unavailable` when the directory is foreign, corrupt or inaccessible, or when `check` throws it
 */
export async function openEnvironment(
  dir: string,
  { readOnly, check }: { readonly readOnly: boolean; readonly check?: (opened: Environment) => void },
): Promise<Environment> {
  const { open } = await loadLmdb()
  let root: RootDatabase | undefined
  try {
    root = open({
      ...asBinary,
      path: dir,
      noSubdir: false,
      maxDbs: 2,
      pageSize,
      mapSize,
      overlappingSync: false,
      eventTurnBatching: false,
      readOnly,
    })
    const names = [...root.getKeys()].map(String)
    if (names.some((name) => !tableNames.includes(name))) throw unavailable('foreign', `${dir} contains data of another program`)
    if (readOnly && !tableNames.every((name) => names.includes(name))) throw unavailable('foreign', missingStore(dir))
    const metadata: MetadataTable = root.openDB('facts', asBinary)
    const records = root.openDB('records', asBinary) as unknown as RecordTable
    const recordsInPlace = root.openDB('records', inPlace) as unknown as RecordReader
    const opened = { root, metadata, records, recordsInPlace }
    check?.(opened)
    const found = metadata.get('format')?.toString()
    const isNew = found === undefined && records.getKeysCount() === 0
    const isFormer = found !== undefined && formerFormats.includes(found)
    if (found !== format && !isFormer && (readOnly || !isNew)) throw wrongFormat(dir, found)
    if (found !== format && !readOnly) metadata.putSync('format', Buffer.from(format))
    return opened
  } catch (cause) {
    await root?.close()
    throw asUnavailable(dir, cause)
  }
}

function wrongFormat(dir: string, found: string | undefined) {
  const problem = `${dir} has the format ${JSON.stringify(found)}, not ${JSON.stringify(format)}`
  return unavailable('foreign', `${problem}: use the version of krmkit that wrote it, or a newer one`)
}

/** Page counts, which the types of LMDB do not declare. */
interface TreePages {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

/** Size of the pages in use in bytes; the other pages of the file are free. */
export function usedBytesOf({ metadata, records }: Pick<Environment, 'metadata' | 'records'>): number {
  const ofRecords = records.getStats() as TreePages & { readonly root: TreePages; readonly free: TreePages }
  const trees = [ofRecords, ofRecords.root, ofRecords.free, metadata.getStats() as TreePages]
  const pages = trees.reduce(
    (sum, each) => sum + each.treeBranchPageCount + each.treeLeafPageCount + each.overflowPages,
    metaPages,
  )
  return pages * pageSize
}

/** @throws StorageError `Unavailable` with reason `corrupt` */
export function compactedOf(metadata: Buffer | undefined, initial: Revision): Revision {
  if (metadata === undefined) return initial
  const revision = metadata.readDoubleLE(0)
  // Former versions wrote no checksum.
  const isWhole = metadata.length === 8 || metadata.equals(encodeCompacted(revision))
  if (!isWhole || !Number.isSafeInteger(revision)) throw unavailable('corrupt', 'the oldest readable revision is damaged')
  return revision
}

/** The revision and a checksum of its bytes. */
export function encodeCompacted(revision: Revision): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeDoubleLE(revision)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 8)), 8)
  return bytes
}

/** Resolves when all writes of a batch are durable. @throws the reason why a write is not durable */
export async function allCommitted(outcomes: readonly Promise<boolean>[]): Promise<boolean[]> {
  try {
    return await Promise.all(outcomes)
  } catch (error) {
    throw await reasonOf(error)
  }
}

export function asUnavailable(what: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause
  const problem = cause instanceof Error ? cause.message : String(cause)
  return unavailable(problem.includes('MDB_') ? 'corrupt' : 'access', `${what} cannot be opened: ${problem}`, cause)
}

/** Loads the optional package `lmdb`, so that in-memory storage needs no native code. */
async function loadLmdb(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb')
  } catch (cause) {
    const [problem] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    const advice = 'install it (npm install lmdb), or choose storage in memory'
    throw unavailable('module', `durable storage needs the package lmdb, which cannot be loaded: ${problem}; ${advice}`, cause)
  }
}

/** LMDB rejects with a generic error that carries a promise, which rejects with the reason. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error
  try {
    await error.commitError
    return error
  } catch (reason) {
    return reason
  }
}
