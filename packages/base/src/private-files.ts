/**
 * Files and directories that only their owner may access: directories have mode 0700 and files 0600, regardless of the umask. A
 * separate entry point, `@krmkit/base/private-files`, because it needs a file system.
 */

import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, parse, resolve } from 'node:path'

const directoryMode = 0o700
const fileMode = 0o600
/** Permissions of the group and of others. */
const othersMask = 0o077
/** Set on directories shared by design, such as `/tmp`. */
const stickyBit = 0o1000
/** Whether modes have an effect: not on Windows, where files inherit access control lists. */
const hasModes = process.platform !== 'win32'

/**
 * Creates a directory and its missing parents. Restricts an existing one to its owner.
 *
 * @throws Error naming the directory when it cannot be created, is the root or has the sticky bit, or belongs to another user
 *   and is accessible to others.
 * @example
 * import { ensurePrivateDirectory } from '@krmkit/base/private-files'
 * // Creates .krmkit and .krmkit/pki with mode 0700.
 * ensurePrivateDirectory('.krmkit/pki')
 */
export function ensurePrivateDirectory(path: string): void {
  createMissingDirectories(path)
  const stats = statSync(path)
  if (!stats.isDirectory()) throw new Error(`${path} is not a folder`)
  if (!isAccessibleToOthers(stats)) return
  if (resolve(path) === parse(resolve(path)).root || (stats.mode & stickyBit) !== 0)
    throw new Error(`${path} is shared with other users (${formatMode(stats)}); choose a folder inside of it`)
  changeMode(path, { stats, mode: directoryMode, change: () => chmodSync(path, directoryMode) })
}

/**
 * Creates the parent directory of a file, with its missing parents. An existing one is not changed.
 *
 * @see {@link writePrivateFile}
 */
export function ensureParentDirectory(file: string): void {
  createMissingDirectories(dirname(file))
}

/**
 * Creates an empty file unless it exists. Restricts an existing one to its owner and keeps its content.
 *
 * @throws Error naming the file when it belongs to another user and is accessible to others.
 * @see {@link writePrivateFile}
 */
export function ensurePrivateFile(path: string): void {
  const descriptor = openSync(path, 'a', fileMode)
  try {
    restrictFile(path, descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Restricts a file to its owner.
 *
 * @throws Error naming the file when it belongs to another user and is accessible to others.
 * @see {@link writePrivateFile}
 */
export function restrictToOwner(path: string): void {
  const stats = statSync(path)
  if (stats.isFile() && isAccessibleToOthers(stats)) {
    changeMode(path, { stats, mode: fileMode, change: () => chmodSync(path, fileMode) })
  }
}

/**
 * Opens a file for appending, creating or restricting it like `ensurePrivateFile`. Pipes and devices are opened without changes.
 *
 * @example
 * import { openPrivateFile } from '@krmkit/base/private-files'
 * const log = await openPrivateFile('.krmkit/audit.log')
 * await log.appendFile('{"stage":"ResponseComplete"}\n')
 * await log.close()
 */
export async function openPrivateFile(path: string): Promise<FileHandle> {
  const handle = await open(path, 'a', fileMode)
  try {
    restrictFile(path, handle.fd)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

export interface PrivateFileOptions {
  /** Default 0600. */
  readonly mode?: number
  /** Path of the temporary file. Default: the path with the suffix `.new`. */
  readonly temporaryPath?: string
}

/**
 * Writes a file atomically; creates a missing directory.
 *
 * @example
 * import { ensureParentDirectory, ensurePrivateFile, restrictToOwner, writePrivateFile } from '@krmkit/base/private-files'
 * // Each file has mode 0600, each new directory 0700.
 * await writePrivateFile('.krmkit/tokens.csv', 'f3c1,alice,1\n')
 * restrictToOwner('.krmkit/tokens.csv')
 * ensurePrivateFile('.krmkit/audit.log')
 * ensureParentDirectory('.krmkit/run/server.sock')
 */
export async function writePrivateFile(path: string, text: string, options: PrivateFileOptions = {}): Promise<void> {
  const { mode = fileMode, temporaryPath = `${path}.new` } = options
  ensureParentDirectory(path)
  // A leftover of an earlier attempt may be accessible to others, or may be a symbolic link.
  await rm(temporaryPath, { force: true })
  const handle = await open(temporaryPath, 'wx', mode)
  try {
    if (hasModes) await handle.chmod(mode)
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
  await rename(temporaryPath, path)
}

/** Creates directories one by one, because the umask may prevent creating entries inside a new directory. */
function createMissingDirectories(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !exists(at); at = dirname(at)) missing.unshift(at)
  for (const folder of missing) {
    try {
      mkdirSync(folder, directoryMode)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(folder).isDirectory()) continue
      throw error
    }
    if (hasModes) chmodSync(folder, directoryMode)
  }
}

function exists(path: string): boolean {
  const stats = statOf(path)
  if (stats !== undefined && !stats.isDirectory()) throw new Error(`${path} is not a folder`)
  return stats !== undefined || dirname(path) === path
}

/** Returns the status of a path; undefined when it is missing, or is below a file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function isAccessibleToOthers({ mode }: Stats): boolean {
  return hasModes && (mode & othersMask) !== 0
}

function restrictFile(path: string, descriptor: number): void {
  const stats = statSync(path)
  if (!hasModes || !stats.isFile() || (stats.mode & 0o777) === fileMode) return
  changeMode(path, { stats, mode: fileMode, change: () => fchmodSync(descriptor, fileMode) })
}

function changeMode(path: string, { stats, mode, change }: { stats: Stats; mode: number; change: () => void }): void {
  try {
    change()
  } catch (cause) {
    const advice = `its owner has to close it (chmod ${mode.toString(8)} ${path})`
    throw new Error(`${path} is open to other users (${formatMode(stats)}) and belongs to uid ${stats.uid}: ${advice}`, { cause })
  }
}

function formatMode({ mode }: Stats): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
}
