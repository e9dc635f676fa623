import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { GroupFile, ReleaseFile } from './facts.ts'
import { groupOfLines, linesOfGroup } from './group-lines.ts'
import { type DatedLine, fold, type Line, linesAt, parseTree, printTree, unfold } from './line-tree.ts'
import { linesOfRelease, releaseOfLines } from './release-lines.ts'

/**
 * The model: the facts of all releases, as dated lines. A file `<folder>.txt` per group, `release.txt` for the facts of no group, and
 * `roles.txt` for default roles.
 */
export interface Model {
  /** Lines by file name without suffix. */
  readonly files: ReadonlyMap<string, readonly DatedLine[]>
}

const releaseName = 'release'
const rolesName = 'roles'

/** The minor numbers of the releases in the model, in ascending order. */
export function minorsOf({ files }: Model): number[] {
  const texts = (files.get(releaseName) ?? []).filter(({ text }) => text.startsWith('release '))
  return texts.map(({ text }) => minorOf(text.slice('release '.length))).sort((a, b) => a - b)
}

/** 37 of `1.37`, `0.37.2` or `v1.37.0`. */
export function minorOf(release: string): number {
  const [, minor] = /^v?[01]\.(\d{2})(?:\.|$)/.exec(release) ?? []
  if (minor === undefined) throw new Error(`${JSON.stringify(release)} is not a release such as 1.37 or 0.37.2`)
  return Number(minor)
}

export function readModel(folder: string): Model {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.txt')) : []
  return {
    files: new Map(names.sort().map((name) => [basename(name, '.txt'), parseTree(readFileSync(join(folder, name), 'utf8'))])),
  }
}

export function writeModel(folder: string, { files }: Model): void {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder))
    if (name.endsWith('.txt') && !files.has(basename(name, '.txt'))) rmSync(join(folder, name))
  for (const [name, lines] of files) writeFileSync(join(folder, `${name}.txt`), printTree(lines))
}

/** The facts of a release. */
export interface ReleaseView {
  /** Groups by folder, in alphabetical order. */
  readonly groups: ReadonlyMap<string, GroupFile>
  readonly release: ReleaseFile
  /** As `linesOfRoles` writes them. */
  readonly roles: readonly Line[]
}

export function viewAt(model: Model, minor: number): ReleaseView {
  if (!minorsOf(model).includes(minor)) throw new Error(`the model has no release 1.${minor}`)
  const groups = new Map<string, GroupFile>()
  for (const [name, lines] of model.files) {
    const [group] = name === releaseName || name === rolesName ? [] : linesAt(lines, minor)
    if (group !== undefined) groups.set(name, groupOfLines(name, group))
  }
  return { groups, release: releaseOfLines(treeAt(model, minor, releaseName)), roles: treeAt(model, minor, rolesName) }
}

/** The lines of a file in a release. */
export function treeAt({ files }: Model, minor: number, name: string): Line[] {
  return linesAt(files.get(name) ?? [], minor)
}

/** The model with a release added: the one after the newest of the model, or that one again, which it replaces. */
export function withRelease(model: Model, facts: ReleaseView): Model {
  const added = minorOf(facts.release.release)
  const minors = minorsOf(model)
  const newest = minors.at(-1)
  if (newest !== undefined && added !== newest && added !== newest + 1) {
    throw new Error(`release 1.${added} does not follow 1.${newest}, the newest one of the model`)
  }
  const trees = new Map<string, readonly Line[]>([...facts.groups].map(([name, group]) => [name, [linesOfGroup(name, group)]]))
  trees.set(releaseName, linesOfRelease(facts.release)).set(rolesName, facts.roles)
  const isFirst = newest === undefined || (added === newest && minors.length === 1)
  const names = [...new Set([...model.files.keys(), ...trees.keys()])].sort()
  const files = names.map((name): [string, DatedLine[]] => {
    const known = isFirst ? [] : (model.files.get(name) ?? [])
    const before = added === newest ? unfold(known, newest) : known
    return [name, fold(before, trees.get(name) ?? [], isFirst ? undefined : added)]
  })
  return { files: new Map(files.filter(([, lines]) => lines.length > 0)) }
}
