import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '@krmkit/schema'
import { messageOf } from '../cli-error.ts'
import type { Terminal } from './terminal.ts'

/** Files of manifests: finding them below folders, and reading them. */

export interface ManifestFile {
  /** As the command line leads to it; `-` is standard input. */
  readonly path: string
  readonly text: string
}

export interface UnreadableFile {
  readonly path: string
  /** For people. */
  readonly message: string
}

export interface FoundFiles {
  readonly files: readonly ManifestFile[]
  readonly unreadable: readonly UnreadableFile[]
}

const extensions = /\.(?:ya?ml|json)$/i
/** Made for another tool, and sent to no server. */
const otherTools = /^(?:kustomization\.ya?ml|Kustomization|Chart\.yaml|values\.ya?ml)$/
const foldersLeftOut = /^(?:\.|node_modules$)/

/**
 * All files that paths lead to, in order. Of folders, those with the extensions `.yaml`, `.yml` and `.json` at any depth;
 * hidden folders, `node_modules`, and files of kustomize and helm are left out.
 */
export function findManifests(
  paths: readonly string[],
  terminal: Pick<Terminal, 'stdin'>,
  { absent = false }: { /** Files that do not exist are empty. */ readonly absent?: boolean } = {},
): FoundFiles {
  const found = { files: [] as ManifestFile[], unreadable: [] as UnreadableFile[] }
  for (const path of paths) {
    if (absent && !existsSync(path)) continue
    guarded(path, found.unreadable, () => {
      if (path === '-') found.files.push({ path, text: terminal.stdin() })
      else if (statSync(path).isDirectory()) {
        const before = found.files.length + found.unreadable.length
        readFolder(path, found)
        const empty = found.files.length + found.unreadable.length === before
        if (empty) found.unreadable.push({ path, message: 'no *.yaml, *.yml or *.json is in it' })
      } else found.files.push({ path, text: readFileSync(path, 'utf8') })
    })
  }
  return found
}

function readFolder(folder: string, found: { files: ManifestFile[]; unreadable: UnreadableFile[] }): void {
  guarded(folder, found.unreadable, () => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!foldersLeftOut.test(entry.name)) readFolder(path, found)
      } else if (extensions.test(entry.name) && !otherTools.test(entry.name)) {
        guarded(path, found.unreadable, () => found.files.push({ path, text: readFileSync(path, 'utf8') }))
      }
    }
  })
}

function guarded(path: string, unreadable: UnreadableFile[], read: () => void): void {
  try {
    read()
  } catch (error) {
    unreadable.push({ path, message: reasonOf(error) })
  }
}

/** `ENOENT: no such file or directory, open 'x'` without what the reader knows already. */
function reasonOf(error: unknown): string {
  const message = messageOf(error)
  return /^[A-Z]+: ([^,]+),/.exec(message)?.[1] ?? message
}

/** The documents of a file. */
export function documentsOf({ path, text }: ManifestFile): ReturnType<typeof readManifest> {
  return readManifest(text, { json: /\.json$/i.test(path) })
}
