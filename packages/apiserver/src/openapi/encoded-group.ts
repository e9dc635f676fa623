import type { Work } from '@krmkit/base/work'
import {
  type DocumentEncoding,
  type DocumentEncodingName,
  type DocumentParts,
  documentEncodings,
  type PartEntry,
} from '@krmkit/schema/openapi'

/** Encoded members of documents. Types that many documents share, such as those of metadata, are encoded once. */

/** A member of a JSON object or protobuf message, encoded, with its name. */
export interface Member {
  readonly name: string
  readonly bytes: Uint8Array
}

/** The encoded members of one group version in one form. */
export interface EncodedGroup {
  readonly paths: readonly Member[]
  readonly schemas: readonly Member[]
  readonly parameters: readonly Member[]
}

export class Encoders {
  readonly #shared = new Map<DocumentEncodingName, WeakMap<object, Uint8Array>>();

  /** Encodes one member per step, and large schemas in several steps. */
  *group(parts: DocumentParts, name: DocumentEncodingName): Work<EncodedGroup> {
    const form = documentEncodings[name]
    const schemas: Member[] = []
    for (const entry of parts.schemas) {
      schemas.push({ name: entry.name, bytes: yield* this.#schema(entry, name, form) })
      yield true
    }
    return {
      paths: yield* encodedAll(parts.paths, form.encode.paths),
      schemas,
      parameters: yield* encodedAll(parts.parameters, form.encode.parameters),
    }
  }

  *#schema(entry: DocumentParts['schemas'][number], name: DocumentEncodingName, form: DocumentEncoding): Work<Uint8Array> {
    const { source } = entry
    if (!isShared(source)) return yield* form.encode.schemas(entry)
    let cache = this.#shared.get(name)
    if (cache === undefined) {
      cache = new WeakMap()
      this.#shared.set(name, cache)
    }
    const bytes = cache.get(source) ?? (yield* form.encode.schemas(entry))
    cache.set(source, bytes)
    return bytes
  }
}

function* encodedAll(entries: readonly PartEntry[], encode: (entry: PartEntry) => Uint8Array): Work<readonly Member[]> {
  const members: Member[] = []
  for (const entry of entries) {
    members.push({ name: entry.name, bytes: encode(entry) })
    yield true
  }
  return members
}

/** Whether a type is shared by nearly all group versions: metadata, and types with a hand-written form. */
function isShared(source: object): boolean {
  if ('of' in source) return false
  return !('fields' in source) || String((source as { readonly name?: unknown }).name).startsWith('meta/')
}

/** Merges members of several groups, sorted by name. The first of equally named members wins. */
export function mergeMembers(groups: readonly (readonly Member[])[]): Uint8Array[] {
  const byName = new Map<string, Uint8Array>()
  for (const members of groups) for (const { name, bytes } of members) if (!byName.has(name)) byName.set(name, bytes)
  return [...byName.keys()].sort().map((name) => byName.get(name) as Uint8Array)
}
