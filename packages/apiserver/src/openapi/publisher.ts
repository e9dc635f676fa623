import type { ResourceDefinition } from '@krmkit/kinds'
import { type Clock, type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import {
  type Dialect,
  type DocumentParts,
  documentForms,
  encodeOpenapiV3,
  type FormName,
  groupVersionParts,
  kindsFrom,
  type OpenApiInfo,
  operationParts,
  type PublishedGroupVersion,
  type RootDocument,
  rootDocuments,
  type TypeSource,
} from '@krmkit/schema'
import { isBuiltInGroup } from '../discovery/documents.ts'
import { type EncodedGroup, Encoders, mergeMembers } from './encoded-group.ts'
import { combinedTag, Fingerprints } from './fingerprint.ts'
import { type CustomForm, documentName, publishedGroupVersions } from './published.ts'
import { PublishedDocument } from './published-document.ts'
import { type ConvertedDocument, noRemoteDocuments, type RemoteDocuments, type RemoteSource } from './remote-documents.ts'
import { Slices } from './slices.ts'

export interface PublisherOptions {
  readonly resources: () => readonly ResourceDefinition[]
  readonly types: TypeSource
  readonly version: string
  readonly profile?: NamingProfile
  readonly customForm?: (definition: ResourceDefinition) => CustomForm | undefined
  readonly issuer?: boolean
  readonly remote?: RemoteSource
}

type Encoding = 'json' | 'protobuf'

/** What there is to say of a group version or of the roots: its documents, and what it adds to the common one. */
interface DocumentSource {
  readonly name: string
  readonly definitions: readonly ResourceDefinition[]
  /** Short; the entity tag of its documents. */
  readonly etag: () => string
  readonly parts: (dialect: Dialect) => Generator<void, DocumentParts>
  readonly documents: Readonly<Record<Encoding, PublishedDocument>>
  /** Its part of the document of version 2, once it was made. */
  readonly encoded: Map<FormName, EncodedGroup>
}

/**
 * Keeps documents for as long as what they describe stays the same. A change of the resources costs what has changed: tags are made
 * from what is published, and documents when somebody asks for them.
 */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #info: OpenApiInfo
  readonly #profile: NamingProfile
  readonly #kindsOf: ReturnType<typeof kindsFrom>
  readonly #customForm: (definition: ResourceDefinition) => CustomForm | undefined
  readonly #fingerprints: Fingerprints
  readonly #encoders = new Encoders()
  readonly #slices: Slices
  readonly #now: () => number
  #resources: readonly ResourceDefinition[] | undefined
  #remote: RemoteDocuments = noRemoteDocuments
  #sources: ReadonlyMap<string, DocumentSource> = new Map()
  #converted: ReadonlyMap<string, Readonly<Record<Encoding, PublishedDocument>>> = new Map()
  #index: Promise<PublishedDocument> | undefined
  #v2: Promise<Readonly<Record<Encoding, PublishedDocument>>> | undefined

  constructor(options: PublisherOptions, clock: Pick<Clock, 'now'>) {
    this.#profile = options.profile ?? stockProfile
    const { vendor } = this.#profile
    this.#options = options
    this.#info = { title: vendor.slice(0, 1).toUpperCase() + vendor.slice(1), version: options.version }
    this.#kindsOf = kindsFrom(options.types, options.resources())
    this.#customForm = options.customForm ?? ((definition) => writtenForm(definition, options.types, this.#profile))
    this.#fingerprints = new Fingerprints({
      types: options.types,
      version: options.version,
      profile: this.#profile,
      customForm: this.#customForm,
    })
    this.#slices = new Slices(clock)
    this.#now = () => clock.now()
  }

  /** A document of version 3. */
  v3(name: string, encoding: Encoding): PublishedDocument | undefined {
    this.#refresh()
    return (this.#sources.get(name)?.documents ?? this.#converted.get(name))?.[encoding]
  }

  /** Resolves when what other servers publish is known, as far as it can be. */
  async ready(): Promise<void> {
    await this.#options.remote?.fetchV2()
  }

  /** The addresses of all documents of version 3. */
  index(): Promise<PublishedDocument> {
    this.#refresh()
    if (this.#index === undefined) {
      const making = this.#slices.run(this.#indexSteps([...this.#sources.values()], this.#remote))
      this.#index = making
      making.catch(() => {
        if (this.#index === making) this.#index = undefined
      })
    }
    return this.#index
  }

  /** The document of version 2, about everything. */
  v2(encoding: Encoding): Promise<PublishedDocument> {
    this.#refresh()
    if (this.#v2 === undefined) {
      const making = this.#slices.run(this.#v2Steps([...this.#sources.values()], this.#remote))
      this.#v2 = making
      making.catch(() => {
        if (this.#v2 === making) this.#v2 = undefined
      })
    }
    return this.#v2.then((documents) => documents[encoding])
  }

  *#indexSteps(subjects: readonly DocumentSource[], remote: RemoteDocuments): Generator<void, PublishedDocument> {
    const addresses = new Map(remote.v3)
    for (const [name, { hash }] of remote.converted) addresses.set(name, relativeUrl(name, hash))
    for (const subject of subjects) {
      yield* this.#tagSteps(subject)
      addresses.set(subject.name, relativeUrl(subject.name, subject.etag()))
    }
    const paths: JsonObject = {}
    for (const name of [...addresses.keys()].sort()) {
      const serverRelativeURL = addresses.get(name) as string
      Object.defineProperty(paths, name, { value: { serverRelativeURL }, enumerable: true })
    }
    const text = JSON.stringify({ paths })
    const etag = combinedTag([text])
    return new PublishedDocument(async () => [new TextEncoder().encode(text)], { etag: () => etag, changedMs: this.#now() })
  }

  /** Makes the tag of a subject definition by definition. */
  *#tagSteps({ definitions }: DocumentSource): Generator<void, void> {
    for (const definition of definitions) {
      this.#fingerprints.definition(definition)
      yield
    }
  }

  *#v2Steps(
    subjects: readonly DocumentSource[],
    remote: RemoteDocuments,
  ): Generator<void, Readonly<Record<Encoding, PublishedDocument>>> {
    for (const subject of subjects) yield* this.#tagSteps(subject)
    const etag = combinedTag([
      ...remote.v2.map((each) => `${each.prefix} ${each.etag}`),
      ...subjects.map((subject) => subject.etag()),
    ])
    const at = { etag: () => etag, changedMs: this.#now() }
    const form = (name: FormName) =>
      new PublishedDocument(() => this.#slices.run(this.#v2DocumentSteps(name, subjects, remote)), at)
    return { json: form('v2 json'), protobuf: form('v2 protobuf') }
  }

  *#v2DocumentSteps(
    form: FormName,
    subjects: readonly DocumentSource[],
    remote: RemoteDocuments,
  ): Generator<void, readonly Uint8Array[]> {
    const groups: EncodedGroup[] = []
    for (const subject of subjects) groups.push(yield* this.#encodedGroup(subject, form))
    // What is served here comes first: of two definitions with one name it is the one that counts.
    for (const { parts } of remote.v2) groups.push(yield* this.#encoders.group(parts, form))
    const encoded = {
      paths: mergeMembers(groups.map(({ paths }) => paths)),
      schemas: mergeMembers(groups.map(({ schemas }) => schemas)),
      parameters: mergeMembers(groups.map(({ parameters }) => parameters)),
    }
    yield
    return documentForms[form].join(encoded, this.#info)
  }

  *#encodedGroup(subject: DocumentSource, form: FormName): Generator<void, EncodedGroup> {
    const known = subject.encoded.get(form)
    if (known !== undefined) return known
    const made = yield* this.#encoders.group(yield* subject.parts(documentForms[form].dialect), form)
    subject.encoded.set(form, made)
    return made
  }

  #refresh(): void {
    const resources = this.#options.resources()
    const remote = this.#options.remote?.documents ?? noRemoteDocuments
    if (resources === this.#resources && remote === this.#remote) return
    this.#index = undefined
    this.#v2 = undefined
    if (remote !== this.#remote) {
      this.#converted = new Map([...remote.converted].map(([name, each]) => [name, this.#convertedDocument(each)]))
    }
    this.#remote = remote
    if (resources === this.#resources) return
    this.#resources = resources
    const previous = this.#sources
    const subjects = new Map<string, DocumentSource>()
    for (const [name, own] of byDocument(resources)) {
      const known = previous.get(name)
      const kept = known !== undefined && sameElements(known.definitions, own)
      subjects.set(name, kept ? known : this.#groupVersionSource(name, own))
    }
    for (const root of this.#rootDocuments(resources)) {
      if (!subjects.has(root.name)) subjects.set(root.name, previous.get(root.name) ?? this.#rootSource(root))
    }
    this.#sources = new Map([...subjects].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #groupVersionSource(name: string, definitions: readonly ResourceDefinition[]): DocumentSource {
    const { types } = this.#options
    const rest = { source: types, profile: this.#profile, kindsOf: this.#kindsOf }
    const customForm = this.#customForm
    let published: PublishedGroupVersion | undefined
    const parts = function* (dialect: Dialect): Generator<void, DocumentParts> {
      published ??= publishedGroupVersions(definitions, { types, customForm }).get(name) as PublishedGroupVersion
      yield
      return yield* groupVersionParts(published, { ...rest, dialect })
    }
    return this.#createSource(name, definitions, parts)
  }

  /** A group of custom resources has no document of its own, as on the stock server. */
  #rootDocuments(resources: readonly ResourceDefinition[]): readonly RootDocument[] {
    const { issuer = false, types } = this.#options
    const groups = new Set<string>()
    for (const { custom, definedInCode, group } of resources) {
      if (group !== '' && (custom === undefined || definedInCode === true)) groups.add(group)
    }
    return rootDocuments({ source: types, groups: [...groups], issuer, profile: this.#profile })
  }

  #rootSource({ name, operations, schemas }: RootDocument): DocumentSource {
    const parts = (dialect: Dialect) => operationParts({ operations, schemas }, { dialect, kindsOf: this.#kindsOf })
    return this.#createSource(name, [], parts)
  }

  #createSource(name: string, definitions: readonly ResourceDefinition[], parts: DocumentSource['parts']): DocumentSource {
    let made: string | undefined
    const etag = () => {
      made ??= this.#fingerprints.document(name, definitions)
      return made
    }
    const at = { etag, changedMs: this.#now() }
    const document = (form: FormName) => new PublishedDocument(() => this.#slices.run(this.#v3DocumentSteps(parts, form)), at)
    const documents = { json: document('v3 json'), protobuf: document('v3 protobuf') }
    return { name, definitions, etag, parts, documents, encoded: new Map() }
  }

  #convertedDocument({ document, hash }: ConvertedDocument): Readonly<Record<Encoding, PublishedDocument>> {
    const at = { etag: () => hash, changedMs: this.#now() }
    return {
      json: new PublishedDocument(async () => [new TextEncoder().encode(JSON.stringify(document))], at),
      protobuf: new PublishedDocument(async () => [encodeOpenapiV3(document)], at),
    }
  }

  *#v3DocumentSteps(parts: DocumentSource['parts'], form: FormName): Generator<void, readonly Uint8Array[]> {
    const { paths, schemas } = yield* this.#encoders.group(yield* parts('v3'), form)
    return documentForms[form].join(
      { paths: mergeMembers([paths]), schemas: mergeMembers([schemas]), parameters: [] },
      this.#info,
    )
  }
}

export function relativeUrl(name: string, etag: string): string {
  return `/openapi/v3/${name}?hash=${etag}`
}

function byDocument(resources: readonly ResourceDefinition[]): Map<string, ResourceDefinition[]> {
  const found = new Map<string, ResourceDefinition[]>()
  for (const definition of resources) {
    const name = documentName(definition.group, definition.version)
    const known = found.get(name)
    if (known === undefined) found.set(name, [definition])
    else known.push(definition)
  }
  return found
}

function sameElements<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index])
}

/**
 * Kinds that are not built in were read from a schema, which says more than their structural type. The types of built-in kinds are not
 * looked at: reading them takes time, and the list of documents does not need them.
 */
function writtenForm(definition: ResourceDefinition, types: TypeSource, profile: NamingProfile): CustomForm | undefined {
  if (definition.custom !== undefined) return definition.custom
  if (definition.definedInCode !== true && isBuiltInGroup(definition.group, profile)) return undefined
  const type = definition.kind.type()
  if (types.has(type.name)) return undefined
  const { raw } = type
  return typeof raw === 'object' && raw !== null ? { schema: raw as JsonObject } : {}
}
