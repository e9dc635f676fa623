import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ManifestFile } from 'krmkit/validate'
import { messageOf } from '../cli-error.ts'
import { decodeManifest } from './decode-manifest.ts'
import { folderOfGlob, globMatcher, isGlob } from './glob.ts'
import type { Terminal } from './terminal.ts'

/** Finds and reads files of manifests. */

export interface UnreadableFile {
  readonly path: string
  readonly message: string
}

export interface FoundFiles {
  readonly files: readonly ManifestFile[]
  readonly unreadable: readonly UnreadableFile[]
}

const extensions = /\.(?:ya?ml|json)$/i
/** Files of kustomize, helm, packages and other tools, which are not manifests. Hidden files belong to tools as well. */
const otherTools = [
  /^\./,
  /^(?:kustomization|values)\.ya?ml$/,
  /^Chart\.yaml$/,
  /^(?:package|package-lock|npm-shrinkwrap|composer|biome|deno|lerna|nx|turbo|renovate)\.json$/,
  /^pnpm-(?:lock|workspace)\.yaml$/,
  /^[tj]sconfig(?:\..+)?\.json$/,
  /^(?:compose|docker-compose(?:\..+)?)\.ya?ml$/,
]
const ignoredFolders = /^(?:\.|node_modules$)/

export interface FindOptions {
  /** Whether missing files are ignored. */
  readonly absent?: boolean
  /** Selects further files of folders, by path. */
  readonly also?: (path: string) => boolean
  /** Patterns of files and folders that are left out, also when they are named. */
  readonly exclude?: readonly string[]
}

interface Search {
  readonly files: ManifestFile[]
  readonly unreadable: UnreadableFile[]
  readonly also: FindOptions['also']
  readonly isExcluded: (path: string) => boolean
}

/**
 * Reads all files of the paths in order. Folders contribute files with the extensions `.yaml`, `.yml` and `.json` at any depth, except
 * hidden files and folders, `node_modules`, and files of other tools such as `package.json` and `kustomization.yaml`. A path that does
 * not exist may be a pattern, such as `deploy/*.yaml` in quotes.
 */
export function findManifests(
  paths: readonly string[],
  terminal: Pick<Terminal, 'stdin'>,
  { absent = false, also, exclude = [] }: FindOptions = {},
): FoundFiles {
  const excluded = exclude.map(globMatcher)
  const isExcluded = (path: string) => excluded.some((matches) => matches(path))
  const found: Search = { files: [], unreadable: [], also, isExcluded }
  for (const path of paths) {
    if (path === '-') guarded(path, found.unreadable, () => found.files.push({ path, text: terminal.stdin() }))
    else if (existsSync(path)) readPath(path, found)
    else if (isGlob(path)) readMatching(path, found)
    else if (!absent) readPath(path, found)
  }
  return found
}

function readPath(path: string, found: Search): void {
  if (found.isExcluded(path)) return
  guarded(path, found.unreadable, () => {
    if (!statSync(path).isDirectory()) {
      found.files.push({ path, text: decodeManifest(readFileSync(path)) })
      return
    }
    const before = found.files.length + found.unreadable.length
    readFolder(path, found)
    const empty = found.files.length + found.unreadable.length === before
    if (empty) found.unreadable.push({ path, message: 'contains no *.yaml, *.yml or *.json files' })
  })
}

/** Reads the files that a pattern matches. */
function readMatching(pattern: string, found: Search): void {
  const matches = globMatcher(pattern)
  const before = found.files.length + found.unreadable.length
  const isExcluded = (path: string) => found.isExcluded(path) || (!statSync(path).isDirectory() && !matches(path))
  readFolder(folderOfGlob(pattern), { ...found, isExcluded })
  const empty = found.files.length + found.unreadable.length === before
  if (empty) found.unreadable.push({ path: pattern, message: 'matches no *.yaml, *.yml or *.json files' })
}

function readFolder(folder: string, found: Search): void {
  guarded(folder, found.unreadable, () => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const isWanted = entry.isDirectory() ? !isIgnoredFolder(entry.name) : found.also?.(path) === true || isManifest(entry.name)
      if (!isWanted) continue
      guarded(path, found.unreadable, () => {
        if (found.isExcluded(path)) return
        if (entry.isDirectory()) readFolder(path, found)
        else found.files.push({ path, text: decodeManifest(readFileSync(path)) })
      })
    }
  })
}

/** Whether a file in a folder is a manifest, by its name. */
export function isManifest(name: string): boolean {
  return extensions.test(name) && !otherTools.some((pattern) => pattern.test(name))
}

/** Whether a folder is left out, by its name. */
export function isIgnoredFolder(name: string): boolean {
  return ignoredFolders.test(name)
}

function guarded(path: string, unreadable: UnreadableFile[], read: () => void): void {
  try {
    read()
  } catch (error) {
    unreadable.push({ path, message: reasonOf(error) })
  }
}

/** Reduces `ENOENT: no such file or directory, open 'x'` to `no such file or directory`. */
function reasonOf(error: unknown): string {
  const message = messageOf(error)
  return /^[A-Z]+: ([^,]+),/.exec(message)?.[1] ?? message
}
