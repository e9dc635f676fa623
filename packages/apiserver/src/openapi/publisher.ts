import { createTurns, Pace, runPaced, type Turns, type Work } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import { type Clock, type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { StructType, TypeSource } from '@krmkit/schema'
import {
  createKindLookup,
  type Dialect,
  type DocumentEncodingName,
  type DocumentParts,
  documentEncodings,
  encodeOpenapiV3,
  groupVersionParts,
  type OpenApiInfo,
  operationParts,
  type PublishedGroupVersion,
  type RootDocument,
  rootDocuments,
} from '@krmkit/schema/openapi'
import { isBuiltInGroup } from '../discovery/documents.ts'
import { hasEmulation } from '../discovery/version.ts'
import { type EncodedGroup, Encoders, mergeMembers } from './encoded-group.ts'
import { combinedTag, Fingerprints } from './fingerprint.ts'
import { type CustomForm, documentName, publishedGroupVersions } from './published.ts'
import { PublishedDocument } from './published-document.ts'
import { type ConvertedDocument, noRemoteDocuments, type RemoteDocuments, type RemoteSource } from './remote-documents.ts'
import { relativeUrl } from './serve-document.ts'

export interface PublisherOptions {
  /** The served resources. A change replaces the array; definitions are never modified in place. */
  readonly resources: () => readonly ResourceDefinition[]
  /** Types of the built-in kinds. */
  readonly types: TypeSource
  /** Version of the server, such as `v1.33.0`. Documents change with it. */
  readonly version: string
  /** Version in the documents, such as `1.33`. Default: `version`. */
  readonly release?: string
  /** Names used in the documents. Default: the stock profile. */
  readonly profile?: NamingProfile
  /**
   * The OpenAPI schema of a resource that was defined by a schema. Default: for every kind that is not built in, the schema from which its
   * type was created.
   */
  readonly customForm?: (definition: ResourceDefinition) => CustomForm | undefined
  /** Whether the discovery documents of the service account issuer are served. Default false. */
  readonly issuer?: boolean
  /** Whether the schemas of built-in types list the values of enums (gate `OpenAPIEnums`). Default true. */
  readonly enums?: boolean
  /** Whether built-in objects have a CBOR form. Default false. */
  readonly cbor?: boolean
  /** Documents of other servers. Default: none. */
  readonly remote?: RemoteSource
  /** Scheduler of long work, shared by the server. Default: one for this publisher. */
  readonly turns?: Turns
}

type Encoding = 'json' | 'protobuf'

/** The documents of a group version or root path, and its contribution to the v2 document. */
interface DocumentSource {
  readonly name: string
  readonly definitions: readonly ResourceDefinition[]
  /** The entity tag of the documents. */
  readonly etag: () => string
  readonly parts: (dialect: Dialect) => Work<DocumentParts>
  readonly documents: Readonly<Record<Encoding, PublishedDocument>>
  /** Its part of the v2 document, once encoded. */
  readonly encoded: Map<DocumentEncodingName, EncodedGroup>
}

const sliceMs = 5

/** Groups that kube-apiserver leaves out of the kinds of options in documents of custom resources. */
const serverGroups: ReadonlySet<string> = new Set(['admission', 'apiextensions', 'apiregistration', 'imagepolicy'])

/** Cache key of the options in documents of custom resources, which are encoded separately from those of built-in kinds. */
const customOptions = {}

/**
 * Caches documents while the described resources stay the same. The cost of a change is proportional to the change: tags are computed
 * from the published parts, and documents are built on request.
 */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #info: OpenApiInfo
  readonly #profile: NamingProfile
  readonly #kindsOf: ReturnType<typeof createKindLookup>
  readonly #customForm: (definition: ResourceDefinition) => CustomForm | undefined
  readonly #fingerprints: Fingerprints
  readonly #encoders = new Encoders()
  readonly #turns: Turns
  readonly #now: () => number
  #resources: readonly ResourceDefinition[] | undefined
  #remote: RemoteDocuments = noRemoteDocuments
  #sources: ReadonlyMap<string, DocumentSource> = new Map()
  #converted: ReadonlyMap<string, Readonly<Record<Encoding, PublishedDocument>>> = new Map()
  #index: Promise<PublishedDocument> | undefined
  #v2: Promise<Readonly<Record<Encoding, PublishedDocument>>> | undefined

  /** @param atStart the resources at server start; the shared options list only their kinds */
  constructor(
    options: PublisherOptions,
    { clock, atStart }: { readonly clock: Pick<Clock, 'now'>; readonly atStart: readonly ResourceDefinition[] },
  ) {
    this.#profile = options.profile ?? stockProfile
    const { vendor } = this.#profile
    this.#options = options
    this.#info = { title: vendor.slice(0, 1).toUpperCase() + vendor.slice(1), version: options.release ?? options.version }
    this.#kindsOf = createKindLookup(options.types, atStart)
    this.#customForm = options.customForm ?? ((definition) => schemaForm(definition, options.types, this.#profile))
    this.#fingerprints = new Fingerprints({
      types: options.types,
      version: options.version,
      enums: options.enums ?? true,
      cbor: options.cbor ?? false,
      profile: this.#profile,
      customForm: this.#customForm,
    })
    this.#turns = options.turns ?? createTurns()
    this.#now = () => clock.now()
  }

  /** A v3 document whose tag has been computed; undefined for unknown names. */
  async v3(name: string, encoding: Encoding): Promise<PublishedDocument | undefined> {
    this.#refresh()
    const source = this.#sources.get(name)
    if (source === undefined) return this.#converted.get(name)?.[encoding]
    await this.#run(this.#computeTag(source))
    return source.documents[encoding]
  }

  /** Resolves when the v2 documents of other servers have been fetched, or after a time limit. */
  async ready(): Promise<void> {
    await this.#options.remote?.fetchV2()
  }

  /** The index of all v3 documents. */
  index(): Promise<PublishedDocument> {
    this.#refresh()
    if (this.#index === undefined) {
      const pending = this.#run(this.#buildIndex([...this.#sources.values()], this.#remote))
      this.#index = pending
      pending.catch(() => {
        if (this.#index === pending) this.#index = undefined
      })
    }
    return this.#index
  }

  /** The v2 document of all resources. */
  v2(encoding: Encoding): Promise<PublishedDocument> {
    this.#refresh()
    if (this.#v2 === undefined) {
      const pending = this.#run(this.#buildV2([...this.#sources.values()], this.#remote))
      this.#v2 = pending
      pending.catch(() => {
        if (this.#v2 === pending) this.#v2 = undefined
      })
    }
    return this.#v2.then((documents) => documents[encoding])
  }

  #run<T>(steps: Work<T>): Promise<T> {
    return runPaced(steps, new Pace(this.#turns, { sliceMs }))
  }

  *#buildIndex(sources: readonly DocumentSource[], remote: RemoteDocuments): Work<PublishedDocument> {
    const urls = new Map(remote.v3)
    for (const [name, { hash }] of remote.converted) urls.set(name, relativeUrl(name, hash))
    for (const source of sources) {
      yield* this.#computeTag(source)
      urls.set(source.name, relativeUrl(source.name, source.etag()))
    }
    const paths: JsonObject = {}
    for (const name of [...urls.keys()].sort()) {
      const serverRelativeURL = urls.get(name) as string
      Object.defineProperty(paths, name, { value: { serverRelativeURL }, enumerable: true })
    }
    const text = JSON.stringify({ paths })
    const etag = combinedTag([text])
    return new PublishedDocument(async () => [new TextEncoder().encode(text)], { etag: () => etag, changedMs: this.#now() })
  }

  /** Computes the tag of a source, one definition per step. */
  *#computeTag({ definitions }: DocumentSource): Work {
    for (const definition of definitions) {
      yield* this.#fingerprints.definition(definition)
      yield true
    }
  }

  *#buildV2(sources: readonly DocumentSource[], remote: RemoteDocuments): Work<Readonly<Record<Encoding, PublishedDocument>>> {
    for (const source of sources) yield* this.#computeTag(source)
    const etag = combinedTag([
      ...remote.v2.map((each) => `${each.prefix} ${each.etag}`),
      ...sources.map((source) => source.etag()),
    ])
    const at = { etag: () => etag, changedMs: this.#now() }
    const form = (name: DocumentEncodingName) =>
      new PublishedDocument(() => this.#run(this.#v2Document(name, sources, remote)), at)
    return { json: form('v2 json'), protobuf: form('v2 protobuf') }
  }

  *#v2Document(
    form: DocumentEncodingName,
    sources: readonly DocumentSource[],
    remote: RemoteDocuments,
  ): Work<readonly Uint8Array[]> {
    const groups: EncodedGroup[] = []
    for (const source of sources) groups.push(yield* this.#encodedGroup(source, form))
    // Local groups come first, so that their definitions take precedence over definitions of the same name.
    for (const { parts } of remote.v2) groups.push(yield* this.#encoders.group(parts, form))
    const encoded = {
      paths: mergeMembers(groups.map(({ paths }) => paths)),
      schemas: mergeMembers(groups.map(({ schemas }) => schemas)),
      parameters: mergeMembers(groups.map(({ parameters }) => parameters)),
    }
    yield true
    return documentEncodings[form].join(encoded, this.#info)
  }

  *#encodedGroup(source: DocumentSource, form: DocumentEncodingName): Work<EncodedGroup> {
    const cached = source.encoded.get(form)
    if (cached !== undefined) return cached
    const group = yield* this.#encoders.group(yield* source.parts(documentEncodings[form].dialect), form)
    source.encoded.set(form, group)
    return group
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
    const sources = new Map<string, DocumentSource>()
    for (const [name, definitions] of byDocument(resources)) {
      const former = previous.get(name)
      const isUnchanged = former !== undefined && sameElements(former.definitions, definitions)
      sources.set(name, isUnchanged ? former : this.#groupVersionSource(name, definitions))
    }
    for (const root of this.#rootDocuments(resources)) {
      if (!sources.has(root.name)) sources.set(root.name, previous.get(root.name) ?? this.#rootSource(root))
    }
    this.#sources = new Map([...sources].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #groupVersionSource(name: string, definitions: readonly ResourceDefinition[]): DocumentSource {
    const { types, enums = true, cbor = false } = this.#options
    const rest = { source: types, profile: this.#profile, enums, cbor }
    const isCustom = describesCustomResources(definitions)
    const sharedKindsOf = this.#kindsOf
    const customKindsOf = (type: StructType) =>
      sharedKindsOf(type).filter(({ group }) => !serverGroups.has(group.split('.')[0] ?? ''))
    const customForm = this.#customForm
    let published: PublishedGroupVersion | undefined
    const parts = function* (dialect: Dialect): Work<DocumentParts> {
      published ??= publishedGroupVersions(definitions, { types, customForm }).get(name) as PublishedGroupVersion
      yield true
      if (!isCustom || dialect !== 'v3') return yield* groupVersionParts(published, { ...rest, kindsOf: sharedKindsOf, dialect })
      const made = yield* groupVersionParts(published, { ...rest, kindsOf: customKindsOf, dialect })
      return {
        ...made,
        schemas: made.schemas.map((each) =>
          (each.source as Partial<StructType>).name === 'meta/v1.DeleteOptions' ? { ...each, source: customOptions } : each,
        ),
      }
    }
    return this.#createSource(name, definitions, parts)
  }

  /** The documents of root paths. As on kube-apiserver, groups of custom resources have no group document. */
  #rootDocuments(resources: readonly ResourceDefinition[]): readonly RootDocument[] {
    const { issuer = false, types } = this.#options
    const groups = new Set<string>()
    for (const { custom, definedInCode, group } of resources) {
      if (group !== '' && (custom === undefined || definedInCode === true)) groups.add(group)
    }
    const namesEmulation = hasEmulation(this.#info.version)
    return rootDocuments({ source: types, groups: [...groups], issuer, namesEmulation, profile: this.#profile })
  }

  #rootSource({ name, operations, schemas }: RootDocument): DocumentSource {
    const parts = (dialect: Dialect) =>
      operationParts({ operations, schemas }, { dialect, kindsOf: this.#kindsOf, enums: this.#options.enums ?? true })
    return this.#createSource(name, [], parts)
  }

  #createSource(name: string, definitions: readonly ResourceDefinition[], parts: DocumentSource['parts']): DocumentSource {
    let cached: string | undefined
    const etag = () => {
      cached ??= this.#fingerprints.document(name, definitions)
      return cached
    }
    const at = { etag, changedMs: this.#now() }
    const isCustom = definitions.length > 0 && describesCustomResources(definitions)
    const document = (form: DocumentEncodingName) =>
      new PublishedDocument(() => this.#run(this.#v3Document(parts, form, isCustom)), at)
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

  *#v3Document(parts: DocumentSource['parts'], form: DocumentEncodingName, isCustom: boolean): Work<readonly Uint8Array[]> {
    const { paths, schemas } = yield* this.#encoders.group(yield* parts('v3'), form)
    const info = isCustom ? { title: `${this.#info.title} CRD Swagger`, version: 'v0.1.0' } : this.#info
    const members = { paths: mergeMembers([paths]), schemas: mergeMembers([schemas]), parameters: [] }
    return documentEncodings[form].join({ ...members, securitySchemes: !isCustom }, info)
  }
}

/** Whether a document describes only custom resources. As on kube-apiserver, its title and version then do not depend on the server. */
function describesCustomResources(definitions: readonly ResourceDefinition[]): boolean {
  return definitions.every(({ custom, definedInCode }) => custom !== undefined && definedInCode !== true)
}

function byDocument(resources: readonly ResourceDefinition[]): Map<string, ResourceDefinition[]> {
  const byName = new Map<string, ResourceDefinition[]>()
  for (const definition of resources) {
    const name = documentName(definition.group, definition.version)
    const definitions = byName.get(name)
    if (definitions === undefined) byName.set(name, [definition])
    else definitions.push(definition)
  }
  return byName
}

function sameElements<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index])
}

/**
 * The schema of a kind that is not built in, which has more detail than its structural type. Types of built-in kinds are not loaded here,
 * because loading takes time and the index of documents does not need them.
 */
function schemaForm(definition: ResourceDefinition, types: TypeSource, profile: NamingProfile): CustomForm | undefined {
  if (definition.custom !== undefined) return definition.custom
  if (definition.definedInCode !== true && isBuiltInGroup(definition.group, profile)) return undefined
  const type = definition.kind.type()
  if (types.has(type.name)) return undefined
  const { raw } = type
  return typeof raw === 'object' && raw !== null ? { schema: raw as JsonObject } : {}
}
