import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readJson } from '../lib/workspace.ts'
import type { GroupFile, ReleaseFile, ReleaseFiles } from './facts.ts'

export interface Extraction {
  /** Folder of the extractor. */
  readonly sources: string
  /** Gets the files; those of earlier runs are removed. */
  readonly folder: string
  /** Continue without modules that cannot be downloaded. */
  readonly isPartial: boolean
}

/** Runs the extractor. @param release `1.37`, `0.37.2` @throws Error when it fails */
export function extractRelease(release: string, { sources, folder, isPartial }: Extraction): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const args = ['run', '.', '-release', release, '-out', folder, ...(isPartial ? ['-partial'] : [])]
  execFileSync('go', args, { cwd: sources, stdio: ['ignore', 2, 2], env: { ...process.env, GOWORK: 'off' } })
}

/** Group files whose name is not that of the folder. */
const folderOfFile: Readonly<Record<string, string>> = { 'lifecycle.k8s.io': 'lifecycle' }

/** Reads the files of a release, as the extractor wrote them. */
export function readRelease(folder: string): ReleaseFiles {
  const roles = join(folder, 'roles')
  const texts = existsSync(roles)
    ? readdirSync(roles).map((name): [string, string] => [basename(name, '.yaml'), readFileSync(join(roles, name), 'utf8')])
    : []
  const release = readJson<ReleaseFile>(join(folder, 'release.json'))
  return { groups: readGroups(folder), release, roles: new Map(texts.sort()) }
}

/** The groups of a release by folder. */
export function readGroups(folder: string): ReadonlyMap<string, GroupFile> {
  const groups = new Map<string, GroupFile>()
  for (const name of readdirSync(folder).sort()) {
    const base = basename(name, '.json')
    if (!name.endsWith('.json') || ['release', 'special', 'lifecycle'].includes(base)) continue
    groups.set(folderOfFile[base] ?? base, readJson<GroupFile>(join(folder, name)))
  }
  return groups
}
