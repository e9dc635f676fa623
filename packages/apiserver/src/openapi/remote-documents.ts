import type { JsonObject } from '@krmkit/meta'
import type { DocumentParts, PartEntry } from '@krmkit/schema'

/** What other servers publish, as this one shows it beside its own documents. */
export interface RemoteDocuments {
  /** Relative addresses of documents of version 3, with their hashes, by the names of the documents. */
  readonly v3: ReadonlyMap<string, string>
  /** Documents of version 3 that were made of those of version 2, by name. */
  readonly converted: ReadonlyMap<string, ConvertedDocument>
  /** Parts of documents of version 2. */
  readonly v2: readonly RemoteDocument[]
}

/** Where they come from. */
export interface RemoteSource {
  /** The same object means that nothing has changed. */
  readonly documents: RemoteDocuments
  /** Sees to it that parts of version 2 are there, as far as they can be had. Never rejects. */
  fetchV2(): Promise<void>
}

export interface ConvertedDocument {
  /** Of the document of version 2. */
  readonly etag: string
  readonly hash: string
  readonly document: JsonObject
}

export interface RemoteDocument {
  /** Of the whole document. */
  readonly etag: string
  /** What its paths begin with. */
  readonly prefix: string
  readonly parts: DocumentParts
}

export const noRemoteDocuments: RemoteDocuments = { v3: new Map(), converted: new Map(), v2: [] }

/**
 * What a document of version 2 says of the paths below a prefix: those, and the definitions and parameters that they need. Members of
 * the document may be anything.
 */
export function remoteDocument(
  document: JsonObject,
  options: { readonly prefix: string; readonly etag: string },
): RemoteDocument {
  const paths = entriesOf(document.paths).filter(({ name }) => name.startsWith(options.prefix))
  const definitions = new Map(entriesOf(document.definitions).map((entry) => [entry.name, entry]))
  const parameters = new Map(entriesOf(document.parameters).map((entry) => [entry.name, entry]))
  const schemas = new Map<string, PartEntry>()
  const shared = new Map<string, PartEntry>()
  const pending = [...paths]
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    for (const ref of references(entry.make())) {
      const [found, from, name] = ref.startsWith(definitionsPrefix)
        ? [schemas, definitions, unescaped(ref.slice(definitionsPrefix.length))]
        : [shared, parameters, unescaped(ref.slice(parametersPrefix.length))]
      const next = from.get(name)
      if (next === undefined || found.has(name)) continue
      found.set(name, next)
      pending.push(next)
    }
  }
  const sourced = [...schemas.values()].map((entry) => ({ ...entry, source: { of: entry } }))
  return { ...options, parts: { paths, schemas: sourced, parameters: [...shared.values()] } }
}

const definitionsPrefix = '#/definitions/'
const parametersPrefix = '#/parameters/'

function entriesOf(map: unknown): PartEntry[] {
  if (!isObject(map)) return []
  return Object.keys(map).flatMap((name) => {
    const value = map[name]
    return isObject(value) && !isTooDeep(value) ? [{ name, make: () => value }] : []
  })
}

const maxDepth = 200

/** Nobody writes such a thing; whoever tried to print it would run out of stack. */
function isTooDeep(start: object): boolean {
  let level: object[] = [start]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((value) => Object.values(value).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return false
}

/** References to definitions and parameters, wherever they stand. */
function references(start: unknown): Set<string> {
  const found = new Set<string>()
  const pending: unknown[] = [start]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') {
        if (inner.startsWith(definitionsPrefix) || inner.startsWith(parametersPrefix)) found.add(inner)
      } else if (typeof inner === 'object') pending.push(inner)
    }
  }
  return found
}

function unescaped(pointer: string): string {
  return pointer.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
