import { createHash } from 'node:crypto'
import type { ResourceDefinition } from '@krmkit/kinds'
import { type GroupVersionKind, type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import type { RemoteVersion } from '../aggregation/interfaces.ts'
import { type Clause, type Encoding, mediaType, parseAccept } from '../encoding/negotiation.ts'
import {
  type AggregatedVersion,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupDiscoveryList,
  isBuiltInGroup,
  type ServedGroup,
  servedGroups,
} from './documents.ts'

/** Answers what is served, by path and Accept header; encoding and HTTP are left to the caller. */

export interface DiscoveryOptions {
  /** What is served now. The same array means nothing has changed; definitions are never changed in place. */
  readonly resources: () => readonly ResourceDefinition[]
  /** What other servers serve. The same array means nothing has changed. Default: nothing. */
  readonly remote?: () => readonly RemoteVersion[]
  /** `host:port` where clients reach the server, shown at `/api`. */
  readonly serverAddress: () => string
  /** Names of the discovery group and of the protobuf media type. Default: the stock ones. */
  readonly profile?: NamingProfile
}

export type DiscoveryResult = PlainDocument | AggregatedDocument | NotServed

/** To be encoded in whatever form the client accepts. */
export interface PlainDocument {
  readonly outcome: 'document'
  /** The same object as long as nothing changes, so that encoded forms can be kept by it. Not to be changed. */
  readonly object: JsonObject
  /** Kind for the protobuf envelope; the version is empty where the object prints no apiVersion. */
  readonly kind: GroupVersionKind
  /** Text of a 406: resource lists are refused in the words of the router, with empty details; others name the media types. */
  readonly refusal: 'router' | 'mediaTypes'
}

/** Chosen by the Accept header: media type and headers are settled. */
export interface AggregatedDocument {
  readonly outcome: 'aggregated'
  readonly object: JsonObject
  readonly kind: GroupVersionKind
  readonly encoding: Encoding
  /** Complete: content type, entity tag, caching. */
  readonly headers: Readonly<Record<string, string>>
  /** The client has it already: answer 304 without a body. */
  readonly notModified: boolean
}

/** `status`: 404 as a Status; `text`: `404 page not found` as plain text. */
export interface NotServed {
  readonly outcome: 'nothing'
  readonly form: 'status' | 'text'
}

export interface DiscoveryRequest {
  /** Decoded path, without query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface Discovery {
  /**
   * Answers `/api`, `/apis`, `/api/{version}`, `/apis/{group}` and `/apis/{group}/{version}`, with or without a slash at the end.
   *
   * @returns undefined for any other path.
   */
  resolve(request: DiscoveryRequest): DiscoveryResult | undefined
  /** How to say that nothing is served below this group and version. */
  notServed(group: string): NotServed
}

const noRemote: readonly RemoteVersion[] = []

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let resources: readonly ResourceDefinition[] | undefined
  const profile = options.profile ?? stockProfile
  const remote = options.remote ?? (() => noRemote)
  let others: readonly RemoteVersion[] = noRemote
  let state = new DiscoverySnapshot([], profile)

  function current(): DiscoverySnapshot {
    const now = options.resources()
    const there = remote()
    if (now !== resources || there !== others) {
      resources = now
      others = there
      state = new DiscoverySnapshot(servedGroups(now, profile, there), profile)
    }
    return state
  }

  return {
    resolve(request) {
      const segments = segmentsOf(request.path)
      if (segments === undefined) return undefined
      return current().resolve(segments, { headers: request.headers, serverAddress: options.serverAddress })
    },
    notServed: (group) => current().notServed(group),
  }
}

/** The segments of a discovery path; undefined for other paths. */
function segmentsOf(path: string): string[] | undefined {
  const segments = path.split('/').slice(1)
  if (segments[segments.length - 1] === '') segments.pop()
  const [root, ...rest] = segments
  if (rest.includes('')) return undefined
  if (root === 'api') return rest.length <= 1 ? segments : undefined
  return root === 'apis' && rest.length <= 2 ? segments : undefined
}

interface DiscoveryContext {
  readonly headers: DiscoveryRequest['headers']
  readonly serverAddress: () => string
}

/** Documents of one state of what is served, each made when first asked for. */
class DiscoverySnapshot {
  readonly #profile: NamingProfile
  readonly #core: ServedGroup | undefined
  readonly #named: readonly ServedGroup[]
  readonly #byName: ReadonlyMap<string, ServedGroup>
  readonly #documents = new Map<string, PlainDocument>()
  readonly #aggregated = new Map<string, { readonly object: JsonObject; readonly etag: string }>()

  constructor(groups: readonly ServedGroup[], profile: NamingProfile) {
    this.#profile = profile
    this.#core = groups.find(({ group }) => group === '')
    this.#named = groups.filter(({ group }) => group !== '')
    this.#byName = new Map(groups.map((group) => [group.group, group]))
  }

  resolve(segments: readonly string[], asked: DiscoveryContext): DiscoveryResult {
    const [root, first, second] = segments
    if (first === undefined) return this.#root(root === 'api' ? '/api' : '/apis', asked)
    if (root === 'api') return this.#version('', first)
    return second === undefined ? this.#group(first) : this.#version(first, second)
  }

  notServed(group: string): NotServed {
    return { outcome: 'nothing', form: this.#byName.has(group) && isBuiltInGroup(group, this.#profile) ? 'status' : 'text' }
  }

  #root(path: '/api' | '/apis', asked: DiscoveryContext): DiscoveryResult {
    if (path === '/api' && this.#core === undefined) return { outcome: 'nothing', form: 'text' }
    const choice = chooseAggregated(asked.headers.accept, this.#profile)
    if (choice !== undefined) return this.#aggregate(path, choice, asked.headers['if-none-match'])
    if (path === '/apis') return this.#document(path, 'APIGroupList', () => apiGroupList(this.#named))
    const address = asked.serverAddress()
    return this.#document(`${path} ${address}`, 'APIVersions', () => apiVersions(this.#core as ServedGroup, address))
  }

  #aggregate(
    path: '/api' | '/apis',
    choice: AggregatedChoice,
    ifNoneMatch: string | readonly string[] | undefined,
  ): AggregatedDocument {
    const { object, etag } = this.#aggregatedList(path, choice.version)
    const quoted = `"${etag}"`
    const group = discoveryGroup(this.#profile)
    const type = `${mediaType(choice.encoding, this.#profile.vendor)};g=${group};v=${choice.version};as=${aggregatedKind}`
    const caching = { etag: quoted, vary: 'Accept', 'cache-control': 'public' }
    const notModified = ifNoneMatch === quoted
    return {
      outcome: 'aggregated',
      object,
      kind: { group, version: choice.version, kind: aggregatedKind },
      encoding: choice.encoding,
      headers: notModified ? caching : { 'content-type': type, ...caching },
      notModified,
    }
  }

  /** Both versions share the entity tag, which is that of the content; what differs is told apart by the Accept header. */
  #aggregatedList(path: '/api' | '/apis', version: AggregatedVersion): { readonly object: JsonObject; readonly etag: string } {
    const key = `${path} ${version}`
    const known = this.#aggregated.get(key)
    if (known !== undefined) return known
    const groups = path === '/apis' ? this.#named : [this.#core as ServedGroup]
    const object = groupDiscoveryList(groups, `${discoveryGroup(this.#profile)}/${version}`)
    const etag = createHash('sha512').update(JSON.stringify(object.items)).digest('hex').toUpperCase()
    const made = { object, etag }
    this.#aggregated.set(key, made)
    return made
  }

  #group(name: string): DiscoveryResult {
    const group = name === '' ? undefined : this.#byName.get(name)
    if (group === undefined) return { outcome: 'nothing', form: 'text' }
    return this.#document(`/apis/${name}`, 'APIGroup', () => apiGroup(group))
  }

  #version(group: string, version: string): DiscoveryResult {
    const served = this.#byName.get(group)?.versions.find((each) => each.version === version)
    if (served === undefined) return this.notServed(group)
    return this.#document(`/apis/${group}/${version}`, 'APIResourceList', () => apiResourceList(served))
  }

  #document(key: string, kind: string, make: () => JsonObject): PlainDocument {
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const object = make()
    const document: PlainDocument = {
      outcome: 'document',
      object,
      kind: { group: '', version: object.apiVersion === undefined ? '' : 'v1', kind },
      refusal: kind === 'APIResourceList' ? 'router' : 'mediaTypes',
    }
    this.#documents.set(key, document)
    return document
  }
}

export interface AggregatedChoice {
  readonly version: AggregatedVersion
  readonly encoding: Encoding
}

const aggregatedKind = 'APIGroupDiscoveryList'

function discoveryGroup(profile: NamingProfile): string {
  return `apidiscovery.${profile.apiDomain}`
}

/**
 * The aggregated form that an Accept header asks for with `g=apidiscovery.k8s.io;v=...;as=APIGroupDiscoveryList`, the most wanted
 * first; undefined when none of its clauses does. A clause that asks for the plain form does not come before one that asks for the
 * aggregated form: whoever knows the latter gets it.
 */
export function chooseAggregated(
  accept: string | readonly string[] | undefined,
  profile: NamingProfile = stockProfile,
): AggregatedChoice | undefined {
  const header = typeof accept === 'string' || accept === undefined ? (accept ?? '') : accept.join(',')
  for (const clause of parseAccept(header)) {
    const encoding = (['json', 'yaml', 'protobuf'] as const).find((each) =>
      matchesMediaType(clause, mediaType(each, profile.vendor)),
    )
    const version = aggregatedVersion(clause.parameters, discoveryGroup(profile))
    const stream = clause.parameters.get('stream')
    if (encoding === undefined || version === undefined || clause.parameters.get('sv')) continue
    if (stream !== undefined && stream !== '' && stream !== 'watch') continue
    return { version, encoding }
  }
  return undefined
}

function matchesMediaType(clause: Clause, type: string): boolean {
  if (clause.type === '*') return clause.subtype === '*'
  return `${clause.type}/${clause.subtype}` === type || (clause.subtype === '*' && type.startsWith(`${clause.type}/`))
}

function aggregatedVersion(parameters: ReadonlyMap<string, string>, group: string): AggregatedVersion | undefined {
  if (parameters.get('g') !== group || parameters.get('as') !== aggregatedKind) return undefined
  const version = parameters.get('v')
  return version === 'v2' || version === 'v2beta1' ? version : undefined
}
