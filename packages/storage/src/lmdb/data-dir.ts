/** Checks a directory before LMDB opens it: LMDB trusts its file, and a foreign or truncated file crashes the process. */
import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateDirectory, ensurePrivateFile } from '@krmkit/base/private-files'
import { StorageError, type UnavailableReason } from '../storage-error.ts'
import { checkPages } from './page-check.ts'
import { finishReplacement } from './replace-dir.ts'

/** File names of LMDB. */
const dataFile = 'data.mdb'
const lockFile = 'lock.mdb'

/** Layout of an LMDB meta page: offsets in bytes. */
const meta = { bytes: 160, magic: 24, version: 28, pageSize: 48, lastPage: 144 } as const
const magic = 0xbeefc0de
/** LMDB may leave unused pages at the end unwritten, but always fewer bytes than this. */
const maxMissingBytes = 16 * 1024 * 1024

/**
 * Prepares a directory for LMDB and creates it when missing. Directory and files are accessible to their owner only; LMDB itself
 * would follow the umask.
 *
 * @returns whether the directory contains data
 * @throws StorageError `Unavailable`
 */
export function prepareDataDir(dir: string): 'empty' | 'holds data' {
  const names = attempt(dir, () => {
    finishReplacement(dir)
    ensurePrivateDirectory(dir)
    return readdirSync(dir)
  })
  if (!names.includes(dataFile)) {
    const strange = names.find((name) => name !== lockFile)
    if (strange !== undefined) throw unavailable('foreign', `${dir} contains other files, such as ${strange}`)
  }
  return attempt(dir, () => {
    for (const name of [dataFile, lockFile]) ensurePrivateFile(join(dir, name))
    return checkDataFile(join(dir, dataFile))
  })
}

/**
 * Checks the data file of a directory that LMDB is to open for reading only, which changes no permissions.
 *
 * @throws StorageError `Unavailable`
 */
export function checkDataDir(dir: string): void {
  const path = join(dir, dataFile)
  const state = attempt(dir, () => {
    if (!existsSync(path)) return 'empty'
    try {
      return checkDataFile(path)
    } catch (error) {
      if (!isReadOnly(error)) throw error
      return checkDataFile(path, 'r')
    }
  })
  if (state === 'empty') throw unavailable('access', missingStore(dir))
}

/** The error message for a folder without a store. */
export function missingStore(dir: string): string {
  return `${dir} contains no durable store: "krmkit serve --storage durable" and lmdbStorage() create one`
}

function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))
}

/** Size of the data file, and the disk space available to this process, in bytes. */
export function sizesOf(dir: string): { readonly fileBytes: number; readonly diskAvailableBytes: number } {
  const { bavail, bsize } = statfsSync(dir)
  return { fileBytes: statSync(join(dir, dataFile)).size, diskAvailableBytes: bavail * bsize }
}

/**
 * Rejects a directory in which a store cannot be created.
 *
 * @throws StorageError `Unavailable` with reason `foreign` when the directory has files
 */
export function rejectNonEmptyDir(dir: string): void {
  const names = attempt(dir, () => (existsSync(dir) ? readdirSync(dir) : []))
  if (names.length > 0) throw unavailable('foreign', `${dir} is not empty: move it away, or choose another folder`)
}

export function unavailable(reason: UnavailableReason, problem: string, cause?: unknown): StorageError {
  return new StorageError({ code: 'Unavailable', reason, problem, cause })
}

function checkDataFile(path: string, mode: 'r' | 'r+' = 'r+'): 'empty' | 'holds data' {
  const file = openSync(path, mode)
  try {
    const { size } = fstatSync(file)
    if (size === 0) return 'empty'
    const first = readMeta(file, 0)
    if (first === undefined) throw unavailable('foreign', `${path} is not a data file of this store`)
    const second = readMeta(file, first.pageSize)
    if (second === undefined) throw unavailable('corrupt', `${path} is corrupt at the start`)
    const missing = (Math.max(first.lastPage, second.lastPage) + 1) * first.pageSize - size
    if (missing > maxMissingBytes || (missing > 0 && mode === 'r')) throw unavailable('corrupt', `${path} is truncated`)
    // Reading beyond the end of a mapped file kills the process; reading zeros is a reportable error.
    if (missing > 0) appendFileSync(path, new Uint8Array(missing))
    checkPages(path, first.pageSize)
    return 'holds data'
  } finally {
    closeSync(file)
  }
}

function readMeta(file: number, at: number): { pageSize: number; lastPage: number } | undefined {
  const page = Buffer.alloc(meta.bytes)
  if (readSync(file, page, 0, meta.bytes, at) < meta.bytes) return undefined
  const pageSize = page.readUInt32LE(meta.pageSize)
  const isMeta = page.readUInt32LE(meta.magic) === magic && (page.readUInt32LE(meta.version) & 0xffff) === 2
  const isPageSize = pageSize >= 512 && pageSize <= 65_536 && (pageSize & (pageSize - 1)) === 0
  return isMeta && isPageSize ? { pageSize, lastPage: Number(page.readBigUInt64LE(meta.lastPage)) } : undefined
}

function attempt<T>(dir: string, fn: () => T): T {
  try {
    return fn()
  } catch (cause) {
    if (cause instanceof StorageError) throw cause
    throw unavailable('access', `${dir} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}
