/**
 * Files and folders that belong to their owner alone: folders have mode 0700 and files 0600, whatever the umask is. An entry point of
 * its own, `@krmkit/meta/private-files`, because it needs a file system.
 */

import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, parse, resolve } from 'node:path'

const folderMode = 0o700
const fileMode = 0o600
/** Access of the group and of all others. */
const othersMask = 0o077
/** Set on folders that many users share, such as `/tmp`. */
const stickyBit = 0o1000
/** On Windows modes mean nothing: there, folders inherit their access lists. */
const hasModes = process.platform !== 'win32'

/**
 * Makes a folder with those above it that are missing. One that exists is closed to other users.
 *
 * @throws Error that names the folder when it cannot be made, is shared by design, or belongs to another user and is open.
 */
export function makePrivateFolder(path: string): void {
  makeFolders(path)
  const stats = statSync(path)
  if (!stats.isDirectory()) throw new Error(`${path} is not a folder`)
  if (!isOpen(stats)) return
  if (resolve(path) === parse(resolve(path)).root || (stats.mode & stickyBit) !== 0)
    throw new Error(`${path} is shared with other users (${modeText(stats)}); choose a folder inside of it`)
  closeToOthers(path, { stats, mode: folderMode, change: () => chmodSync(path, folderMode) })
}

/** Makes the folder that a file is to stand in, with those above it that are missing. One that exists stays as it is. */
export function makeFolderOf(file: string): void {
  makeFolders(dirname(file))
}

/**
 * Makes an empty file unless it exists. One that exists is closed to other users; its content stays.
 *
 * @throws Error that names the file when it belongs to another user and is open.
 */
export function makePrivateFile(path: string): void {
  const descriptor = openSync(path, 'a', fileMode)
  try {
    closeFile(path, descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Closes a file to other users. @throws Error that names the file when it belongs to another user and is open. */
export function closeToOtherUsers(path: string): void {
  const stats = statSync(path)
  if (stats.isFile() && isOpen(stats)) {
    closeToOthers(path, { stats, mode: fileMode, change: () => chmodSync(path, fileMode) })
  }
}

/** Opens a file to append to it, as `makePrivateFile` makes it. What is no file (a pipe, a device) is opened as it is. */
export async function openPrivateFile(path: string): Promise<FileHandle> {
  const handle = await open(path, 'a', fileMode)
  try {
    closeFile(path, handle.fd)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

export interface PrivateFileOptions {
  /** Default 0600. */
  readonly mode?: number
  /** Name of the file until it is whole, beside the file itself. Default: that of the file with `.new`. */
  readonly draft?: string
}

/** Writes a file that appears whole, in a folder that is made when it is missing. */
export async function writePrivateFile(path: string, text: string, options: PrivateFileOptions = {}): Promise<void> {
  const { mode = fileMode, draft = `${path}.new` } = options
  makeFolderOf(path)
  // What an earlier try has left may be open to others, or lead elsewhere.
  await rm(draft, { force: true })
  const handle = await open(draft, 'wx', mode)
  try {
    if (hasModes) await handle.chmod(mode)
    await handle.writeFile(text)
  } finally {
    await handle.close()
  }
  await rename(draft, path)
}

/** One by one, since a umask may take away the right to make the next one inside. */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !exists(at); at = dirname(at)) missing.unshift(at)
  for (const folder of missing) {
    try {
      mkdirSync(folder, folderMode)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(folder).isDirectory()) continue
      throw error
    }
    if (hasModes) chmodSync(folder, folderMode)
  }
}

function exists(path: string): boolean {
  const stats = statOf(path)
  if (stats !== undefined && !stats.isDirectory()) throw new Error(`${path} is not a folder`)
  return stats !== undefined || dirname(path) === path
}

/** Undefined for what does not exist, also below what is no folder. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

function isOpen({ mode }: Stats): boolean {
  return hasModes && (mode & othersMask) !== 0
}

function closeFile(path: string, descriptor: number): void {
  const stats = statSync(path)
  if (!hasModes || !stats.isFile() || (stats.mode & 0o777) === fileMode) return
  closeToOthers(path, { stats, mode: fileMode, change: () => fchmodSync(descriptor, fileMode) })
}

function closeToOthers(path: string, { stats, mode, change }: { stats: Stats; mode: number; change: () => void }): void {
  try {
    change()
  } catch (cause) {
    const advice = `its owner has to close it (chmod ${mode.toString(8)} ${path})`
    throw new Error(`${path} is open to other users (${modeText(stats)}) and belongs to uid ${stats.uid}: ${advice}`, { cause })
  }
}

function modeText({ mode }: Stats): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
}
