/** The files of the workspace. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the workspace, without a slash at its end. Tools run from their sources in tests, and from a bundle otherwise. */
export const root: string = rootOf(dirname(fileURLToPath(import.meta.url)))

function rootOf(folder: string): string {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder
  if (dirname(folder) === folder) throw new Error('no folder above the tools has a pnpm-workspace.yaml')
  return rootOf(dirname(folder))
}

/** The files of an entry point by condition, which may be nested. */
export interface Conditions {
  readonly [condition: string]: string | Conditions
}

/** What tools read of a `package.json`. */
export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly license?: string
  readonly exports?: Readonly<Record<string, string | Conditions>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly repository?: { readonly directory?: string }
}

export function readManifest(folder: string): Manifest {
  return readJson<Manifest>(join(folder, 'package.json'))
}

/** A JSON file of the workspace, whose shape the caller knows. */
export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The names of the folders of the published packages, in order. */
export function publishedPackages(): string[] {
  return readdirSync(join(root, 'packages'))
    .sort()
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .filter((name) => readManifest(join(root, 'packages', name)).private !== true)
}

/** All files below a folder, relative to it, with slashes. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/'))
}
