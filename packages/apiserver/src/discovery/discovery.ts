import { hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import type { ResourceDefinition } from '@krmkit/kinds'
import { type GroupVersionKind, type JsonObject, type NamingProfile, stockProfile } from '@krmkit/meta'
import { type Clause, type Encoding, mediaType, parseAccept } from '../media/negotiation.ts'
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
import type { RemoteVersion } from './remote-version.ts'

/** Discovery documents by path and Accept header. Encoding and HTTP are left to the caller. */

export interface DiscoveryOptions {
  /** The served resources. A change replaces the array; definitions are never modified in place. */
  readonly resources: () => readonly ResourceDefinition[]
  /** The group versions of other servers. A change replaces the array. Default: none. */
  readonly remote?: () => readonly RemoteVersion[]
  /** `host:port` where clients reach the server, shown at `/api`. */
  readonly serverAddress: () => string
  /** Names the discovery group and the protobuf media type. Default: the names of Kubernetes. */
  readonly profile?: NamingProfile
  /** Versions of aggregated discovery that the release supports. Default: all. */
  readonly aggregated?: readonly AggregatedVersion[]
  /** Whether groups of the aggregated form have a null creationTimestamp, as before 1.34. Default true. */
  readonly nullTimes?: boolean
  /** Whether resources have the hash of their storage version (gate `StorageVersionHash`). Default true. */
  readonly storageVersionHashes?: boolean
}

export type DiscoveryResult = PlainDocument | AggregatedDocument | NotServed

/** A document in any encoding that the client accepts. */
export interface PlainDocument {
  readonly outcome: 'document'
  /** The same object while nothing changes, so that encoded forms can be cached by it. Must not be modified. */
  readonly object: JsonObject
  /** Kind for the protobuf envelope; the version is empty where the object prints no apiVersion. */
  readonly kind: GroupVersionKind
  /** Form of a 406: `router` has the message of the router and empty details, `mediaTypes` lists the media types. */
  readonly refusal: 'router' | 'mediaTypes'
  /** Whether the document is also served in CBOR where objects are: true for the lists of built-in resources. */
  readonly hasCbor: boolean
}

/** Aggregated discovery, whose media type and headers follow from the Accept header. */
export interface AggregatedDocument {
  readonly outcome: 'aggregated'
  readonly object: JsonObject
  readonly kind: GroupVersionKind
  readonly encoding: Encoding
  /** Whether Accept requests indentation. */
  readonly pretty: boolean
  /** Content type, entity tag and caching. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the client already has this version: the response is then 304 without a body. */
  readonly notModified: boolean
}

/** `status`: 404 as a Status; `text`: `404 page not found` as plain text. */
export interface NotServed {
  readonly outcome: 'notServed'
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
   * Serves `/api`, `/apis`, `/api/{version}`, `/apis/{group}` and `/apis/{group}/{version}`, with or without a trailing slash.
   *
   * @returns undefined for any other path.
   */
  resolve(request: DiscoveryRequest): DiscoveryResult | undefined
  /** The form of a 404 below this group. */
  notServed(group: string): NotServed
}

const noRemote: readonly RemoteVersion[] = []
const aggregatedVersions: readonly AggregatedVersion[] = ['v2', 'v2beta1']

export function createDiscovery(options: DiscoveryOptions): Discovery {
  let resources: readonly ResourceDefinition[] | undefined
  const profile = options.profile ?? stockProfile
  const remote = options.remote ?? (() => noRemote)
  let remoteVersions: readonly RemoteVersion[] = noRemote
  const forms = { profile, withHashes: options.storageVersionHashes ?? true, nullTimes: options.nullTimes ?? true }
  let snapshot = new DiscoverySnapshot([], forms)

  function current(): DiscoverySnapshot {
    const currentResources = options.resources()
    const currentRemote = remote()
    if (currentResources !== resources || currentRemote !== remoteVersions) {
      resources = currentResources
      remoteVersions = currentRemote
      snapshot = new DiscoverySnapshot(servedGroups(currentResources, profile, currentRemote), forms)
    }
    return snapshot
  }

  return {
    resolve(request) {
      const segments = segmentsOf(request.path)
      if (segments === undefined) return undefined
      return current().resolve(segments, {
        headers: request.headers,
        serverAddress: options.serverAddress,
        aggregated: options.aggregated ?? aggregatedVersions,
      })
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
  readonly aggregated: readonly AggregatedVersion[]
}

interface SnapshotForms {
  readonly profile: NamingProfile
  readonly withHashes: boolean
  readonly nullTimes: boolean
}

/** The documents of one set of served resources, each created on first use. */
class DiscoverySnapshot {
  readonly #profile: NamingProfile
  readonly #withHashes: boolean
  readonly #nullTimes: boolean
  readonly #core: ServedGroup | undefined
  readonly #named: readonly ServedGroup[]
  readonly #byName: ReadonlyMap<string, ServedGroup>
  readonly #documents = new Map<string, PlainDocument>()
  readonly #aggregated = new Map<string, { readonly object: JsonObject; readonly etag: string }>()

  constructor(groups: readonly ServedGroup[], { profile, withHashes, nullTimes }: SnapshotForms) {
    this.#profile = profile
    this.#withHashes = withHashes
    this.#nullTimes = nullTimes
    this.#core = groups.find(({ group }) => group === '')
    this.#named = groups.filter(({ group }) => group !== '')
    this.#byName = new Map(groups.map((group) => [group.group, group]))
  }

  resolve(segments: readonly string[], context: DiscoveryContext): DiscoveryResult {
    const [root, first, second] = segments
    if (first === undefined) return this.#root(root === 'api' ? '/api' : '/apis', context)
    if (root === 'api') return this.#version('', first)
    return second === undefined ? this.#group(first) : this.#version(first, second)
  }

  notServed(group: string): NotServed {
    return { outcome: 'notServed', form: this.#byName.has(group) && isBuiltInGroup(group, this.#profile) ? 'status' : 'text' }
  }

  #root(path: '/api' | '/apis', context: DiscoveryContext): DiscoveryResult {
    if (path === '/api' && this.#core === undefined) return { outcome: 'notServed', form: 'text' }
    const choice = chooseAggregated(context.headers.accept, this.#profile, context.aggregated)
    if (choice !== undefined) return this.#aggregate(path, choice, context.headers['if-none-match'])
    if (path === '/apis') return this.#document(path, 'APIGroupList', () => apiGroupList(this.#named))
    const address = context.serverAddress()
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
      pretty: choice.pretty,
      headers: notModified ? caching : { 'content-type': type, ...caching },
      notModified,
    }
  }

  /** Both versions share the entity tag, which is computed from the content; `Vary: Accept` distinguishes them in caches. */
  #aggregatedList(path: '/api' | '/apis', version: AggregatedVersion): { readonly object: JsonObject; readonly etag: string } {
    const key = `${path} ${version}`
    const cached = this.#aggregated.get(key)
    if (cached !== undefined) return cached
    const groups = path === '/apis' ? this.#named : [this.#core as ServedGroup]
    const apiVersion = `${discoveryGroup(this.#profile)}/${version}`
    const object = groupDiscoveryList(groups, { apiVersion, nullTimes: this.#nullTimes })
    const etag = hexText(digest('sha512', [JSON.stringify(object.items)])).toUpperCase()
    const list = { object, etag }
    this.#aggregated.set(key, list)
    return list
  }

  #group(name: string): DiscoveryResult {
    const group = name === '' ? undefined : this.#byName.get(name)
    if (group === undefined) return { outcome: 'notServed', form: 'text' }
    return this.#document(`/apis/${name}`, 'APIGroup', () => apiGroup(group))
  }

  /** Whether a 406 for this path has the form of the router: as on kube-apiserver, for the group of the aggregator. */
  #isOfRouter(path: string): boolean {
    return path === `/apis/apiregistration.${this.#profile.apiDomain}`
  }

  #isOfBuiltInGroup(path: string): boolean {
    const [, root, group = ''] = path.split('/')
    return root === 'api' || isBuiltInGroup(group, this.#profile)
  }

  #version(group: string, version: string): DiscoveryResult {
    const served = this.#byName.get(group)?.versions.find((each) => each.version === version)
    if (served === undefined) return this.notServed(group)
    return this.#document(`/apis/${group}/${version}`, 'APIResourceList', () => apiResourceList(served, this.#withHashes))
  }

  #document(key: string, kind: string, create: () => JsonObject): PlainDocument {
    const cached = this.#documents.get(key)
    if (cached !== undefined) return cached
    const object = create()
    const document: PlainDocument = {
      outcome: 'document',
      object,
      kind: { group: '', version: object.apiVersion === undefined ? '' : 'v1', kind },
      refusal: kind === 'APIResourceList' || kind === 'APIVersions' || this.#isOfRouter(key) ? 'router' : 'mediaTypes',
      hasCbor: kind === 'APIResourceList' && this.#isOfBuiltInGroup(key),
    }
    this.#documents.set(key, document)
    return document
  }
}

export interface AggregatedChoice {
  readonly version: AggregatedVersion
  readonly encoding: Encoding
  /** Whether Accept requests indentation. */
  readonly pretty: boolean
}

const aggregatedKind = 'APIGroupDiscoveryList'

function discoveryGroup(profile: NamingProfile): string {
  return `apidiscovery.${profile.apiDomain}`
}

/**
 * The preferred aggregated form of an Accept header, requested with `g=apidiscovery.k8s.io;v=...;as=APIGroupDiscoveryList`; undefined when
 * no clause requests it. A clause with the aggregated form takes precedence over a clause with the plain form, whatever their order.
 */
export function chooseAggregated(
  accept: string | readonly string[] | undefined,
  profile: NamingProfile = stockProfile,
  versions: readonly AggregatedVersion[] = aggregatedVersions,
): AggregatedChoice | undefined {
  const header = typeof accept === 'string' || accept === undefined ? (accept ?? '') : accept.join(',')
  for (const clause of parseAccept(header)) {
    const encoding = (['json', 'yaml', 'protobuf'] as const).find((each) =>
      matchesMediaType(clause, mediaType(each, profile.vendor)),
    )
    const version = aggregatedVersion(clause.parameters, discoveryGroup(profile))
    const stream = clause.parameters.get('stream')
    if (encoding === undefined || version === undefined || clause.parameters.get('sv')) continue
    if (!versions.includes(version)) continue
    if (stream !== undefined && stream !== '' && stream !== 'watch') continue
    return { version, encoding, pretty: clause.parameters.get('pretty') === '1' }
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
