import { type DocumentForm, type DocumentParts, documentForms, type FormName, type PartEntry } from '@krmkit/schema'

/** The members of documents as bytes. What many documents share, the types of metadata, is encoded once. */

/** An encoded member with its name. */
export interface Member {
  readonly name: string
  readonly bytes: Uint8Array
}

/** What one group version contributes to documents of one form. */
export interface EncodedGroup {
  readonly paths: readonly Member[]
  readonly schemas: readonly Member[]
  readonly parameters: readonly Member[]
}

export class Encoders {
  readonly #shared = new Map<FormName, WeakMap<object, Uint8Array>>();

  /** Encodes one member with each step. */
  *group(parts: DocumentParts, name: FormName): Generator<void, EncodedGroup> {
    const form = documentForms[name]
    const schemas: Member[] = []
    for (const entry of parts.schemas) {
      schemas.push({ name: entry.name, bytes: this.#schema(entry, name, form) })
      yield
    }
    return {
      paths: yield* encodedAll(parts.paths, form.encode.paths),
      schemas,
      parameters: yield* encodedAll(parts.parameters, form.encode.parameters),
    }
  }

  #schema(entry: DocumentParts['schemas'][number], name: FormName, form: DocumentForm): Uint8Array {
    const { source } = entry
    if (!isShared(source)) return form.encode.schemas(entry)
    let known = this.#shared.get(name)
    if (known === undefined) {
      known = new WeakMap()
      this.#shared.set(name, known)
    }
    const bytes = known.get(source) ?? form.encode.schemas(entry)
    known.set(source, bytes)
    return bytes
  }
}

function* encodedAll(
  entries: readonly PartEntry[],
  encode: (entry: PartEntry) => Uint8Array,
): Generator<void, readonly Member[]> {
  const members: Member[] = []
  for (const entry of entries) {
    members.push({ name: entry.name, bytes: encode(entry) })
    yield
  }
  return members
}

/** Types of metadata, and those with a hand-written form: nearly every group version refers to them. */
function isShared(source: object): boolean {
  if ('of' in source) return false
  return !('fields' in source) || String((source as { readonly name?: unknown }).name).startsWith('meta/')
}

/** The members of several groups by name, sorted; of those with one name the first. */
export function mergeMembers(groups: readonly (readonly Member[])[]): Uint8Array[] {
  const found = new Map<string, Uint8Array>()
  for (const members of groups) for (const { name, bytes } of members) if (!found.has(name)) found.set(name, bytes)
  return [...found.keys()].sort().map((name) => found.get(name) as Uint8Array)
}
