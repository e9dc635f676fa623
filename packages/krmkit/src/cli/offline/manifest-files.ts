import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '@krmkit/schema/manifest'
import { messageOf } from '../cli-error.ts'
import type { Terminal } from './terminal.ts'

/** Finds and reads files of manifests. */

export interface ManifestFile {
  /** The path as given on the command line or found below it; `-` is standard input. */
  readonly path: string
  readonly text: string
}

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
}

/**
 * Reads all files of the paths in order. Folders contribute files with the extensions `.yaml`, `.yml` and `.json` at any depth, except
 * hidden files and folders, `node_modules`, and files of other tools such as `package.json` and `kustomization.yaml`.
 */
export function findManifests(
  paths: readonly string[],
  terminal: Pick<Terminal, 'stdin'>,
  { absent = false, also }: FindOptions = {},
): FoundFiles {
  const found = { files: [] as ManifestFile[], unreadable: [] as UnreadableFile[] }
  for (const path of paths) {
    if (absent && !existsSync(path)) continue
    guarded(path, found.unreadable, () => {
      if (path === '-') found.files.push({ path, text: terminal.stdin() })
      else if (statSync(path).isDirectory()) {
        const before = found.files.length + found.unreadable.length
        readFolder(path, found, also)
        const empty = found.files.length + found.unreadable.length === before
        if (empty) found.unreadable.push({ path, message: 'contains no *.yaml, *.yml or *.json files' })
      } else found.files.push({ path, text: readFileSync(path, 'utf8') })
    })
  }
  return found
}

function readFolder(
  folder: string,
  found: { files: ManifestFile[]; unreadable: UnreadableFile[] },
  also: FindOptions['also'],
): void {
  guarded(folder, found.unreadable, () => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!ignoredFolders.test(entry.name)) readFolder(path, found, also)
      } else if (also?.(path) === true || isManifest(entry.name)) {
        guarded(path, found.unreadable, () => found.files.push({ path, text: readFileSync(path, 'utf8') }))
      }
    }
  })
}

function isManifest(name: string): boolean {
  return extensions.test(name) && !otherTools.some((pattern) => pattern.test(name))
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

/** Parses the documents of a file. */
export function documentsOf({ path, text }: ManifestFile): ReturnType<typeof readManifest> {
  return readManifest(text, { json: /\.json$/i.test(path) })
}
