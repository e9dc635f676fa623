import type { NamingProfile } from '@krmkit/meta'
import { profileGroup } from '../groups.ts'
import { typeHistory } from './type-history.generated.ts'

/**
 * The types of each release as compact text, made of the types of the newest one and of a history of those that differ:
 *
 *     apps                                        the group
 *     /v1 k8s.io/api/apps/v1                      a version, whose other types are those of the newest release
 *     StatefulSetSpec replicas*?:i 26-~ordinals*?:StatefulSetOrdinals -36~serviceName
 *     26- StatefulSetOrdinals start?:i            a type since 1.26
 *     -22 Rule|A,B                                until 1.22
 *
 * A range of releases stands before a version, a type, and the marks and fields of a struct: `24-26` from 1.24 to 1.26. Without one, all
 * releases have what follows. `packages/tools/src/generate-types/history-text.ts` writes the text.
 */
export interface TypesOfRelease {
  /** Text by folder of the group, as `createTypeSource` reads it; made on first use. */
  readonly texts: Readonly<Record<string, string>>
  /**
   * Whether the release lacks a type, `core/v1.Pod`, or a version, `core/v1`. These are those of the newest release, since objects may be
   * stored in a younger version.
   */
  isLater(name: string): boolean
}

interface Version {
  /** `/v1 k8s.io/api/core/v1` */
  readonly line: string
  /** Lines by name of the type. */
  readonly types: Map<string, string>
}

interface FolderTypes {
  /** Empty for a folder that the release does not have. */
  readonly text: string
  readonly later: ReadonlySet<string>
}

/** @param newest text by folder of the newest release, with the groups of the profile */
export function typesOfRelease(minor: number, newest: Readonly<Record<string, string>>, profile: NamingProfile): TypesOfRelease {
  const known = new Map<string, FolderTypes>()
  const at = (folder: string): FolderTypes => {
    const types = known.get(folder) ?? folderAt(folder, minor, { text: newest[folder], profile })
    known.set(folder, types)
    return types
  }
  const texts: Record<string, string> = {}
  for (const folder of new Set([...Object.keys(newest), ...Object.keys(typeHistory)])) {
    if (newest[folder] === undefined && at(folder).text === '') continue
    Object.defineProperty(texts, folder, { enumerable: true, get: () => at(folder).text })
  }
  return { texts, isLater: (name) => at(name.slice(0, name.indexOf('/'))).later.has(name) }
}

interface NewestFolder {
  readonly text: string | undefined
  readonly profile: NamingProfile
}

function folderAt(folder: string, minor: number, { text, profile }: NewestFolder): FolderTypes {
  const history = typeHistory[folder]
  const later = new Set<string>()
  if (history === undefined) return { text: text ?? '', later }
  const versions = readVersions(text ?? '')
  revise(versions, history.split('\n').slice(1), { folder, minor, later })
  if (versions.size === 0) return { text: '', later }
  const group = text === undefined ? profileGroup(firstLine(history), profile) : firstLine(text)
  return { text: [group, ...[...versions.values()].flatMap(({ line, types }) => [line, ...types.values()])].join('\n'), later }
}

const firstLine = (text: string) => text.slice(0, text.indexOf('\n'))

const nameEnd = /[ ;|>^]|$/

/** The versions of a text, with lines that refer to those of another version written out. */
function readVersions(text: string): Map<string, Version> {
  const versions = new Map<string, Version>()
  let current: Version | undefined
  for (const line of text.split('\n').slice(1)) {
    if (line.startsWith('/')) {
      current = { line, types: new Map() }
      versions.set(versionOf(line), current)
      continue
    }
    const end = line.search(nameEnd)
    const name = line.slice(0, end)
    const isSame = line[end] === '^'
    current?.types.set(name, isSame ? versions.get(line.slice(end + 1))!.types.get(name)! : line)
  }
  return versions
}

/** `v1` of `/v1 k8s.io/api/core/v1`. */
function versionOf(line: string): string {
  return line.slice(1, line.indexOf(' '))
}

interface Revision {
  readonly folder: string
  readonly minor: number
  readonly later: Set<string>
}

/** Applies the lines of a history. */
function revise(versions: Map<string, Version>, lines: readonly string[], { folder, minor, later }: Revision): void {
  let current: Version | undefined
  let at = ''
  const live = new Set<string>()
  for (const dated of lines) {
    const { isLive, text } = atRelease(dated, minor, ' ')
    if (text.startsWith('/')) {
      at = `${folder}/${versionOf(text)}`
      current = versions.get(versionOf(text))
      if (!isLive && current !== undefined) later.add(at)
      if (isLive && current === undefined) {
        current = { line: text, types: new Map() }
        versions.set(versionOf(text), current)
      }
      continue
    }
    if (current === undefined || later.has(at)) continue
    const name = text.slice(0, text.search(nameEnd))
    // A type may have a line for each of several ranges.
    if (isLive) {
      current.types.set(name, /^\w+[|>]/.test(text) ? text : structAt(text, minor))
      live.add(`${at}.${name}`)
      later.delete(`${at}.${name}`)
    } else if (current.types.has(name) && !live.has(`${at}.${name}`)) later.add(`${at}.${name}`)
  }
}

/** The line of a struct without the marks and fields of other releases. */
function structAt(line: string, minor: number): string {
  const [name = '', ...parts] = line.split(' ')
  const live = parts.map((part) => atRelease(part, minor, '~')).flatMap(({ isLive, text }) => (isLive ? [text] : []))
  const marks = live[0]?.startsWith(';') === true ? live.shift() : ''
  return [name + marks, ...live].join(' ')
}

/** Whether a release is in the range before a text, and the text without it. */
function atRelease(text: string, minor: number, end: ' ' | '~'): { readonly isLive: boolean; readonly text: string } {
  const range = /^(\d\d)?-(\d\d)?([ ~])/.exec(text)
  if (range === null || range[3] !== end) return { isLive: true, text }
  const [whole, since = minor, until = minor] = range
  return { isLive: Number(since) <= minor && minor <= Number(until), text: text.slice(whole.length) }
}
