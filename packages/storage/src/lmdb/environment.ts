/** The LMDB environment of a store: its tables, its format, and how it is opened for writing, for reading, and to create it. */
import type { Database, RootDatabase } from 'lmdb'
import type { Revision } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { unavailable } from './data-dir.ts'

const format = 'krmkit-storage 2'
/** Formats that this version reads, and upgrades when it opens them for writing. */
const formerFormats = ['krmkit-storage 1']
const tableNames = ['facts', 'records']
/** With this size, typical objects of 1 to 4 KB neither waste half a page nor need overflow pages. */
const pageSize = 8192
const asBinary = { encoding: 'binary', cache: false } as const

type ReadTransaction = ReturnType<RootDatabase['useReadTransaction']>

export interface RecordTable {
  getRange(options?: { readonly transaction: ReadTransaction }): Iterable<{ key: Revision; value: Buffer }>
  getKeysCount(options?: { readonly transaction: ReadTransaction }): number
  /** Resolves to false unless the key is greater than all others. */
  put(key: Revision, value: Uint8Array, options: { readonly append: true }): Promise<boolean>
  remove(key: Revision): Promise<boolean>
  batch(fn: () => void): Promise<boolean>
}

export type MetadataTable = Database<Buffer, string>

export interface Environment {
  readonly root: RootDatabase
  readonly metadata: MetadataTable
  readonly records: RecordTable
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
      overlappingSync: false,
      eventTurnBatching: false,
      readOnly,
    })
    const names = [...root.getKeys()].map(String)
    if (names.some((name) => !tableNames.includes(name))) throw unavailable('foreign', `${dir} contains data of another program`)
    if (readOnly && !tableNames.every((name) => names.includes(name)))
      throw unavailable('foreign', `${dir} contains no durable store`)
    const metadata: MetadataTable = root.openDB('facts', asBinary)
    const records = root.openDB('records', asBinary) as unknown as RecordTable
    const opened = { root, metadata, records }
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

export function compactedOf(metadata: Buffer | undefined, initial: Revision): Revision {
  return metadata?.readDoubleLE(0) ?? initial
}

export function encodeCompacted(revision: Revision): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(revision)
  return bytes
}

/** Resolves when all writes of a batch are durable. @throws the reason why they are not */
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
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw unavailable('module', `durable storage needs the package lmdb, which cannot be loaded: ${problem}`, cause)
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
