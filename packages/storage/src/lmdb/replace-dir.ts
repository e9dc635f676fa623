/**
 * Replaces a store by its copy. A crash leaves one of these states, each with a complete store:
 *
 *     data, data.compacted-7      before: the copy is not used
 *     data.former-7, data.compacted-7   between: the next opening takes the former store back
 *     data, data.former-7         after: the former store is not used
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

const suffixes = { copy: 'compacted', former: 'former' } as const

/** Where a copy is made. */
export function copyDirOf(dir: string): string {
  return `${dir}.${suffixes.copy}-${process.pid}`
}

/** Renames the copy to the name of the store. @returns the directory of the former store, to be removed once it is closed */
export function replaceDir(dir: string): string {
  const former = `${dir}.${suffixes.former}-${process.pid}`
  const copy = copyDirOf(dir)
  renameSync(dir, former)
  try {
    renameSync(copy, dir)
    try {
      syncDir(dirname(resolve(dir)))
    } catch (error) {
      renameSync(dir, copy)
      throw error
    }
  } catch (error) {
    renameSync(former, dir)
    throw error
  }
  return former
}

/** Restores the name of a store after a crash between the two renames. */
export function finishReplacement(dir: string): void {
  if (existsSync(dir)) return
  const [former, ...others] = besides(dir, suffixes.former)
  if (former !== undefined && others.length === 0) renameSync(former, dir)
}

/** Removes the leftovers of a crash. The store must be complete and locked. */
export function removeLeftovers(dir: string): void {
  for (const suffix of Object.values(suffixes)) {
    for (const path of besides(dir, suffix)) rmSync(path, { recursive: true, force: true })
  }
}

function besides(dir: string, suffix: string): string[] {
  const parent = dirname(resolve(dir))
  const start = `${basename(resolve(dir))}.${suffix}-`
  const names = existsSync(parent) ? readdirSync(parent) : []
  return names
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => join(parent, name))
}

/** Makes renames durable. Windows cannot open directories, and does not need this. */
function syncDir(dir: string): void {
  if (process.platform === 'win32') return
  const file = openSync(dir, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
