import { type Dirent, promises } from 'node:fs'
import { join } from 'node:path'
import type { ManifestFile } from 'krmkit/validate'
import { decodeManifest } from '../offline/decode-manifest.ts'
import { isIgnoredFolder, isManifest } from '../offline/manifest-files.ts'

/** The files with CustomResourceDefinitions in folders of the workspace. Reads are bounded, so that a huge workspace costs little. */

export interface DefinitionLimits {
  /** Most files and folders that are looked at. Default 20 000. */
  readonly maxEntries?: number
  /** Largest file, in bytes. Default 8 MiB. */
  readonly maxFileBytes?: number
  /** Most bytes of all definitions together. Default 64 MiB. */
  readonly maxTotalBytes?: number
}

/** @param paths folders and files. Those that cannot be read are left out. */
export async function findDefinitions(
  paths: readonly string[],
  { maxEntries = 20_000, maxFileBytes = 8 * 2 ** 20, maxTotalBytes = 64 * 2 ** 20 }: DefinitionLimits = {},
): Promise<ManifestFile[]> {
  const found: ManifestFile[] = []
  const waiting = [...paths]
  let entries = 0
  let bytes = 0
  for (let path = waiting.shift(); path !== undefined && entries < maxEntries; path = waiting.shift()) {
    entries++
    const size = await sizeOf(path)
    if (size === undefined) waiting.push(...(await readFolder(path)))
    else if (size <= maxFileBytes && bytes + size <= maxTotalBytes) {
      const text = await readText(path)
      if (!text.includes('CustomResourceDefinition')) continue
      bytes += size
      found.push({ path, text })
    }
  }
  return found
}

/** Bytes of a file; undefined for a folder; infinite for what cannot be read. */
async function sizeOf(path: string): Promise<number | undefined> {
  const found = await promises.stat(path).catch(() => undefined)
  if (found === undefined) return Number.POSITIVE_INFINITY
  if (found.isDirectory()) return undefined
  return found.isFile() ? found.size : Number.POSITIVE_INFINITY
}

async function readFolder(folder: string): Promise<string[]> {
  const entries = await promises.readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  return entries
    .filter((entry) => (entry.isDirectory() ? !isIgnoredFolder(entry.name) : entry.isFile() && isManifest(entry.name)))
    .map((entry) => join(folder, entry.name))
    .sort()
}

function readText(path: string): Promise<string> {
  return promises.readFile(path).then(decodeManifest, () => '')
}
