import { isJsonObject, type JsonObject } from '@krmkit/meta'
import type { DocumentParts, PartEntry } from '@krmkit/schema/openapi'

/** OpenAPI documents of other servers, as published by this one. */
export interface RemoteDocuments {
  /** Relative URLs of v3 documents, with their hashes, by document name. */
  readonly v3: ReadonlyMap<string, string>
  /** v3 documents converted from v2, by document name. */
  readonly converted: ReadonlyMap<string, ConvertedDocument>
  /** Parts of v2 documents. */
  readonly v2: readonly RemoteDocument[]
}

/** Source of remote documents. */
export interface RemoteSource {
  /** A change replaces the object. */
  readonly documents: RemoteDocuments
  /** Fetches missing v2 documents, within a time limit. Never rejects. */
  fetchV2(): Promise<void>
}

export interface ConvertedDocument {
  /** Entity tag of the v2 document. */
  readonly etag: string
  readonly hash: string
  readonly document: JsonObject
}

export interface RemoteDocument {
  /** Entity tag of the whole document. */
  readonly etag: string
  /** Prefix of its paths. */
  readonly prefix: string
  readonly parts: DocumentParts
}

export const noRemoteDocuments: RemoteDocuments = { v3: new Map(), converted: new Map(), v2: [] }

/**
 * Extracts the paths below a prefix from a v2 document, with the definitions and parameters that they reference. The document is
 * untrusted: members of unexpected types are ignored.
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
    for (const ref of references(entry.build())) {
      const [extracted, available, name] = ref.startsWith(definitionsPrefix)
        ? [schemas, definitions, unescaped(ref.slice(definitionsPrefix.length))]
        : [shared, parameters, unescaped(ref.slice(parametersPrefix.length))]
      const next = available.get(name)
      if (next === undefined || extracted.has(name)) continue
      extracted.set(name, next)
      pending.push(next)
    }
  }
  const sourced = [...schemas.values()].map((entry) => ({ ...entry, source: { of: entry } }))
  return { ...options, parts: { paths, schemas: sourced, parameters: [...shared.values()] } }
}

const definitionsPrefix = '#/definitions/'
const parametersPrefix = '#/parameters/'

function entriesOf(map: unknown): PartEntry[] {
  if (!isJsonObject(map)) return []
  return Object.keys(map).flatMap((name) => {
    const value = map[name]
    return isJsonObject(value) && !isTooDeep(value) ? [{ name, build: () => value }] : []
  })
}

const maxDepth = 200

/** Whether printing the value would exhaust the stack. */
function isTooDeep(start: object): boolean {
  let level: object[] = [start]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((value) => Object.values(value).filter((inner) => typeof inner === 'object' && inner !== null))
  }
  return false
}

/** All references to definitions and parameters within a value. */
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
