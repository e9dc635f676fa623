import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { ClientError } from './client-error.ts'

/** Reading the parts of a kubeconfig out of a value that may be anything. */

type Members = Readonly<Record<string, unknown>>

/** One file, or several merged: the first that names something decides. */
export interface Kubeconfig {
  readonly currentContext: string
  readonly clusters: ReadonlyMap<string, Entry>
  readonly users: ReadonlyMap<string, Entry>
  readonly contexts: ReadonlyMap<string, Entry>
}

/** A named member, and the folder from which its relative paths count. */
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
    currentContext ||= textIn(config, 'current-context', path) ?? ''
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
    const name = textIn(fields, 'name', `${path}: ${list}`)
    if (name === undefined || into.has(name)) continue
    into.set(name, { name, members: membersOf(fields[member] ?? {}, `${path}: ${list}: ${name}`), folder: dirname(path) })
  }
}

function membersOf(value: unknown, where: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw invalid(where, 'is not an object')
}

/** A text member; an empty one counts as absent. @throws ClientError `InvalidKubeconfig` when it is something else. */
export function textIn(members: Members, name: string, where: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalid(where, `${name} is not a text`)
}

/** A member that is true or false; absent is false. @throws ClientError `InvalidKubeconfig` when it is something else. */
export function flagIn(members: Members, name: string, where: string): boolean {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw invalid(where, `${name} is not true or false`)
}

/** Bytes of a base64 text, which may be broken into lines. Anything that is not base64 as a whole is refused. */
export function decodeBase64(text: string, where: string): Buffer {
  const plain = text.replace(/\s+/g, '')
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw invalid(where, 'is not base64')
  return Buffer.from(plain, 'base64')
}

/** A path in a member, relative to the folder of its file. */
export function pathIn(entry: Entry, name: string): string | undefined {
  const path = textIn(entry.members, name, entry.name)
  return path === undefined || isAbsolute(path) ? path : join(entry.folder, path)
}

export function invalid(where: string, what: string): ClientError {
  return new ClientError({ code: 'InvalidKubeconfig', message: `kubeconfig: ${where}: ${what}` })
}

/** PEM out of `<name>-data` (base64) or the file `<name>`; the data wins. */
export async function fileOrData(entry: Entry, name: string): Promise<string | undefined> {
  const data = textIn(entry.members, `${name}-data`, entry.name)
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
