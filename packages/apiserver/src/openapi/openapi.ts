import type { ResourceDefinition } from '@krmkit/kinds'
import { type Clock, type JsonObject, type NamingProfile, stockProfile, systemClock } from '@krmkit/meta'
import {
  encodeOpenapiV2,
  kindsFrom,
  type OpenApiInfo,
  openapiV2Document,
  openapiV3Document,
  openapiV3Of,
  type PublishedGroupVersion,
  type RootDocument,
  rootDocuments,
  type TypeSource,
} from '@krmkit/schema'
import type { ApiResponse } from '../interfaces.ts'
import { parseAccept } from '../negotiation.ts'
import { first, type RequestHeaders, serveDocument } from './conditional.ts'
import { type CustomForm, documentName, publishedGroupVersions } from './published.ts'
import { PublishedDocument } from './published-document.ts'

/**
 * `/openapi/v2` and `/openapi/v3`: what is served, as OpenAPI documents. Each is built when it is first asked for and kept until
 * the resources that it describes change.
 */

export interface OpenApiOptions {
  /** What is served now. The same array means nothing has changed; definitions are never changed in place. */
  readonly resources: () => readonly ResourceDefinition[]
  /** Types of the built-in kinds. */
  readonly types: TypeSource
  /** Version of the server, such as `v1.33.0`. */
  readonly version: string
  /** Whose name the documents bear. Default: the stock one. */
  readonly profile?: NamingProfile
  /** Default: the time of the system. */
  readonly clock?: Pick<Clock, 'now'>
  /**
   * The written schema of a resource that has one. Default: the schema that its type was read from, for every kind that is not
   * built in.
   */
  readonly customForm?: (definition: ResourceDefinition) => CustomForm | undefined
  /** The server issues service account tokens and publishes the keys. Default false. */
  readonly issuer?: boolean
}

export interface OpenApiRequest {
  /** Decoded path, without query. */
  readonly path: string
  /** Raw query. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: RequestHeaders
}

export interface OpenApi {
  /** @returns undefined for a path that does not lie below `/openapi/v2` or `/openapi/v3`. */
  answer(request: OpenApiRequest): Promise<ApiResponse> | undefined
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const clock = options.clock ?? systemClock
  const publisher = new Publisher(options, clock)
  return {
    answer({ path, query, headers }) {
      if (path === '/openapi/v2' || path === '/openapi/v2/') return answerV2(publisher, headers)
      if (path === '/openapi/v3' || path === '/openapi/v3/') {
        return serveDocument(publisher.index(), { requestHeaders: headers, contentType: 'application/json', headers: {} })
      }
      if (!path.startsWith('/openapi/v3/')) return undefined
      const name = path.slice('/openapi/v3/'.length).replace(/\/$/, '')
      return answerV3(publisher, { name, hash: new URLSearchParams(query).get('hash') ?? '', headers, clock })
    },
  }
}

const protobufV2 = 'com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** Names under which the forms of version 2 may be asked for. The second is what clients that ask for protobuf send. */
const v2Forms: readonly (readonly [subtype: string, form: 'json' | 'protobuf'])[] = [
  ['json', 'json'],
  ['com.github.proto-openapi.spec.v2@v1.0+protobuf', 'protobuf'],
  [protobufV2, 'protobuf'],
]

async function answerV2(publisher: Publisher, requestHeaders: RequestHeaders): Promise<ApiResponse> {
  const form = chooseForm(requestHeaders, v2Forms)
  if (form === undefined) return notAcceptable()
  const contentType = form === 'json' ? 'application/json' : `application/${protobufV2}`
  return await serveDocument(publisher.v2(form), { requestHeaders, contentType, headers: { vary: 'Accept' } })
}

/** Differs: the protobuf form of version 3, which no stock client asks for, is not available. */
const v3Forms: readonly (readonly [subtype: string, form: 'json'])[] = [['json', 'json']]

async function answerV3(
  publisher: Publisher,
  at: { name: string; hash: string; headers: RequestHeaders; clock: Pick<Clock, 'now'> },
): Promise<ApiResponse> {
  if (chooseForm(at.headers, v3Forms) === undefined) return notAcceptable()
  const document = publisher.v3(at.name)
  if (document === undefined) return { status: 404, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
  if (at.hash !== '' && at.hash !== document.etag) return redirect(relativeUrl(at.name, document))
  const caching = at.hash === document.etag ? { 'cache-control': 'public, immutable', expires: inAYear(at.clock.now()) } : {}
  return await serveDocument(document, {
    requestHeaders: at.headers,
    contentType: 'application/json',
    headers: { vary: 'Accept', ...caching },
  })
}

function chooseForm<F>(headers: RequestHeaders, forms: readonly (readonly [subtype: string, form: F])[]): F | undefined {
  const accept = first(headers.accept)
  for (const { type, subtype } of parseAccept(accept === '' ? '*/*' : accept)) {
    if (type !== 'application' && type !== '*') continue
    const found = forms.find(([name]) => subtype === name || subtype === '*')
    if (found !== undefined) return found[1]
  }
  return undefined
}

function notAcceptable(): ApiResponse {
  return { status: 406, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
}

/** The document has changed since the index was read: it is now under another address. */
function redirect(location: string): ApiResponse {
  return { status: 301, headers: { location, vary: 'Accept' }, body: { kind: 'empty' } }
}

function inAYear(now: number): string {
  const date = new Date(now)
  date.setUTCFullYear(date.getUTCFullYear() + 1)
  return date.toUTCString()
}

function relativeUrl(name: string, document: PublishedDocument): string {
  return `/openapi/v3/${name}?hash=${document.etag}`
}

interface Kept {
  readonly definitions: readonly ResourceDefinition[]
  readonly published: PublishedGroupVersion | undefined
  readonly document: PublishedDocument
}

/** Keeps documents as long as what they describe stays the same. */
class Publisher {
  readonly #options: OpenApiOptions
  readonly #info: OpenApiInfo
  readonly #profile: NamingProfile
  readonly #kindsOf: ReturnType<typeof kindsFrom>
  readonly #now: () => number
  #resources: readonly ResourceDefinition[] | undefined
  #documents = new Map<string, Kept>()
  #roots: readonly RootDocument[] = []
  #index: PublishedDocument | undefined
  #v2: Readonly<Record<'json' | 'protobuf', PublishedDocument>> | undefined

  constructor(options: OpenApiOptions, clock: Pick<Clock, 'now'>) {
    this.#profile = options.profile ?? stockProfile
    const { vendor } = this.#profile
    this.#options = options
    this.#info = { title: vendor.slice(0, 1).toUpperCase() + vendor.slice(1), version: options.version }
    this.#kindsOf = kindsFrom(options.types, options.resources())
    this.#now = () => clock.now()
  }

  v3(name: string): PublishedDocument | undefined {
    this.#refresh()
    return this.#documents.get(name)?.document
  }

  /** The addresses of all documents of version 3. Building it builds them all, for their hashes. */
  index(): PublishedDocument {
    this.#refresh()
    const documents = this.#documents
    this.#index ??= this.#document(() => {
      const paths: JsonObject = {}
      for (const name of [...documents.keys()].sort()) {
        paths[name] = { serverRelativeURL: relativeUrl(name, (documents.get(name) as Kept).document) }
      }
      return { paths }
    })
    return this.#index
  }

  v2(form: 'json' | 'protobuf'): PublishedDocument {
    this.#refresh()
    this.#v2 ??= this.#makeV2()
    return this.#v2[form]
  }

  #makeV2(): Readonly<Record<'json' | 'protobuf', PublishedDocument>> {
    const published = [...this.#documents.values()].flatMap((kept) => kept.published ?? [])
    const roots = this.#roots
    const build = () =>
      openapiV2Document(published, {
        source: this.#options.types,
        info: this.#info,
        profile: this.#profile,
        kindsOf: this.#kindsOf,
        extra: { operations: roots.flatMap((root) => root.operations), schemas: roots.flatMap((root) => root.schemas) },
      })
    const json = this.#document(build)
    const protobuf = new PublishedDocument(() => encodeOpenapiV2(build()), { now: this.#now, entity: () => json.etag })
    return { json, protobuf }
  }

  #refresh(): void {
    const resources = this.#options.resources()
    if (resources === this.#resources) return
    this.#resources = resources
    this.#index = undefined
    this.#v2 = undefined
    const previous = this.#documents
    this.#documents = new Map()
    for (const [name, own] of byDocument(resources)) {
      const known = previous.get(name)
      this.#documents.set(
        name,
        known !== undefined && sameElements(known.definitions, own) ? known : this.#groupVersion(name, own),
      )
    }
    this.#addRoots(previous)
  }

  #groupVersion(name: string, definitions: readonly ResourceDefinition[]): Kept {
    const { types } = this.#options
    const customForm = this.#options.customForm ?? ((definition: ResourceDefinition) => writtenForm(definition, types))
    const published = publishedGroupVersions(definitions, { types, customForm }).get(name) as PublishedGroupVersion
    const document = this.#document(() =>
      openapiV3Document(published, { source: types, info: this.#info, profile: this.#profile, kindsOf: this.#kindsOf }),
    )
    return { definitions, published, document }
  }

  #addRoots(previous: ReadonlyMap<string, Kept>): void {
    const { issuer = false, types } = this.#options
    const groups = [...new Set((this.#resources ?? []).map(({ group }) => group))].filter((group) => group !== '')
    this.#roots = rootDocuments({ source: types, groups, issuer, profile: this.#profile })
    for (const { name, operations, schemas } of this.#roots) {
      const known = previous.get(name)
      const make = () => openapiV3Of(operations, schemas, { info: this.#info, kindsOf: this.#kindsOf })
      this.#documents.set(name, known ?? { definitions: [], published: undefined, document: this.#document(make) })
    }
  }

  #document(make: () => JsonObject): PublishedDocument {
    return new PublishedDocument(() => new TextEncoder().encode(JSON.stringify(make())), { now: this.#now })
  }
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

/** Kinds that are not built in were read from a schema, which says more than their structural type. */
function writtenForm(definition: ResourceDefinition, types: TypeSource): CustomForm | undefined {
  if (definition.custom !== undefined) return definition.custom
  const type = definition.kind.type()
  if (types.has(type.name)) return undefined
  const { raw } = type
  return typeof raw === 'object' && raw !== null ? { schema: raw as JsonObject } : {}
}
