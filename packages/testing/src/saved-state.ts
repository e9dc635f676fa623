import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { ApiObject } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import type { Storage } from '@krmkit/storage'
import { TestingError } from './testing-error.ts'

/**
 * The objects of a store as a folder of JSON files, one for each object, with all stored data and the original member order.
 *
 *     state/krmkit-state                 format and time of the clock
 *     state/core/pods/default/web.json   the path is the key; characters other than a-z, 0-9, `.`, `-` and `_` are escaped
 */

const marker = 'krmkit-state'
const format = 1
const extension = '.json'

/** @throws TestingError `InvalidState` when the folder holds other files */
export async function saveState(
  folder: string,
  { storage, nowMs }: { readonly storage: Storage; readonly nowMs: number },
): Promise<void> {
  const files = await readdir(folder).catch(ifMissing<string[]>([]))
  if (files.length > 0 && !files.includes(marker)) throw invalid(`${folder} has other files; choose an empty folder`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { entries } = await storage.list({ prefix: '/' })
  for (const { key, value } of entries) {
    const path = join(folder, ...key.slice(1).split('/').map(escapeName)) + extension
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, `${JSON.stringify(JSON.parse(Buffer.from(value).toString('utf8')), null, 2)}\n`)
  }
  await writeFile(join(folder, marker), `${JSON.stringify({ format, time: new Date(nowMs).toISOString() })}\n`)
}

/** @throws TestingError `InvalidState` */
export async function savedTimeMs(folder: string): Promise<number> {
  const text = await readFile(join(folder, marker), 'utf8').catch(ifMissing(undefined))
  if (text === undefined) throw invalid(`${folder} has no ${marker}; \`save\` writes such folders, and \`seed\` reads manifests`)
  const { format: found, time } = JSON.parse(text) as { format?: number; time?: string }
  const timeMs = Date.parse(time ?? '')
  if (found !== format || Number.isNaN(timeMs)) throw invalid(`${folder}: unknown format of ${marker}`)
  return timeMs
}

/** Stores the objects of a folder, in the order of their revisions. @throws TestingError `InvalidState` */
export async function restoreState(folder: string, storage: Storage): Promise<void> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = names
    .filter((each) => each.isFile() && each.name.endsWith(extension))
    .map((each) => join(each.parentPath, each.name))
  const objects = await Promise.all(paths.map(async (path) => ({ key: keyOf(folder, path), object: await readObject(path) })))
  objects.sort((a, b) => revisionOf(a.object) - revisionOf(b.object))
  for (const { key, object } of objects) {
    await storage.put(key, (revision) => {
      object.metadata.resourceVersion = String(revision)
      return Buffer.from(`${stringifyJson(object)}\n`)
    })
  }
}

function keyOf(folder: string, path: string): string {
  const names = relative(folder, path).slice(0, -extension.length).split(sep)
  return `/${names.map(decodeURIComponent).join('/')}`
}

async function readObject(path: string): Promise<ApiObject> {
  const text = await readFile(path, 'utf8')
  try {
    const object = JSON.parse(text) as ApiObject
    if (typeof object.metadata !== 'object') throw invalid(`${path}: no metadata`)
    return object
  } catch (error) {
    throw error instanceof SyntaxError ? invalid(`${path}: ${error.message}`) : error
  }
}

function revisionOf({ metadata }: ApiObject): number {
  return Number(metadata.resourceVersion ?? 0)
}

/** Escapes a name so that it is valid on file systems that forbid some characters or ignore case. */
function escapeName(name: string): string {
  return name.replaceAll(/[^a-z0-9._-]/gu, (character) => encodeURIComponent(character).replace(/^[^%]$/, hexOf))
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value
    throw error
  }
}

function invalid(message: string): TestingError {
  return new TestingError({ code: 'InvalidState', message })
}
