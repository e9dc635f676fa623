import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isJsonObject } from '@krmkit/meta'
import { ClientError } from './client-error.ts'

/** Reads kubeconfig entries from unvalidated values. */

type Members = Readonly<Record<string, unknown>>

/** One or several merged files: the first file that sets a value takes precedence. */
export interface Kubeconfig {
  readonly currentContext: string
  readonly clusters: ReadonlyMap<string, Entry>
  readonly users: ReadonlyMap<string, Entry>
  readonly contexts: ReadonlyMap<string, Entry>
}

/** A named entry, and the folder that its relative paths refer to. */
export interface Entry {
  readonly name: string
  readonly members: Members
  readonly folder: string
}

/** Merges parsed files in order of precedence. */
export function mergeKubeconfigs(files: readonly { readonly path: string; readonly value: unknown }[]): Kubeconfig {
  const clusters = new Map<string, Entry>()
  const users = new Map<string, Entry>()
  const contexts = new Map<string, Entry>()
  let currentContext = ''
  for (const { path, value } of files) {
    if (value === null || value === undefined) continue
    const config = membersOf(value, path)
    currentContext ||= stringIn(config, 'current-context', path) ?? ''
    collect(clusters, { config, list: 'clusters', member: 'cluster', path })
    collect(users, { config, list: 'users', member: 'user', path })
    collect(contexts, { config, list: 'contexts', member: 'context', path })
  }
  return { currentContext, clusters, users, contexts }
}

function collect(into: Map<string, Entry>, from: { config: Members; list: string; member: string; path: string }): void {
  const { config, list, member, path } = from
  const entries = config[list] ?? []
  if (!Array.isArray(entries)) throw invalid(path, `${list} is not a list`)
  for (const entry of entries as unknown[]) {
    const fields = membersOf(entry, `${path}: ${list}`)
    const name = stringIn(fields, 'name', `${path}: ${list}`)
    if (name === undefined || into.has(name)) continue
    into.set(name, { name, members: membersOf(fields[member] ?? {}, `${path}: ${list}: ${name}`), folder: dirname(path) })
  }
}

function membersOf(value: unknown, where: string): Members {
  if (isJsonObject(value)) return value
  throw invalid(where, 'is not an object')
}

/** Returns a string member; an empty one counts as absent. @throws ClientError `InvalidKubeconfig` for other types */
export function stringIn(members: Members, name: string, where: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalid(where, `${name} is not a string`)
}

/** Returns a list of strings, by default empty. @throws ClientError `InvalidKubeconfig` for other types */
export function stringsIn(members: Members, name: string, where: string): readonly string[] {
  const value = members[name] ?? []
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string')) return value
  throw invalid(where, `${name} is not a list of strings`)
}

/** Returns a boolean member, by default false. @throws ClientError `InvalidKubeconfig` for other types */
export function booleanIn(members: Members, name: string, where: string): boolean {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw invalid(where, `${name} is not a boolean`)
}

/** Decodes base64 with optional line breaks. @throws ClientError `InvalidKubeconfig` */
export function decodeBase64(text: string, where: string): Buffer {
  const plain = text.replace(/\s+/g, '')
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw invalid(where, 'is not base64')
  return Buffer.from(plain, 'base64')
}

/** Returns a path member, resolved against the folder of its file and absolute. */
export function pathIn(entry: Entry, name: string): string | undefined {
  const path = stringIn(entry.members, name, entry.name)
  return path === undefined ? undefined : resolve(entry.folder, path)
}

export function invalid(where: string, what: string): ClientError {
  return new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${where}: ${what}` })
}

/** Returns the PEM of `<name>-data` (base64) or of the file `<name>`; the data takes precedence. */
export async function fileOrData(entry: Entry, name: string): Promise<string | undefined> {
  const data = stringIn(entry.members, `${name}-data`, entry.name)
  if (data !== undefined) {
    return decodeBase64(data, `${entry.name}: ${name}-data`).toString('utf8')
  }
  const path = pathIn(entry, name)
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${name} ${path} cannot be read`, cause })
  }
}
