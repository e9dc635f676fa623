import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import { ApiError, type NamingProfile } from '@krmkit/meta'
import { trimRight } from '@krmkit/meta/go-text'

/**
 * Content negotiation; @see API protocol specification, 4.4.
 */

export type Encoding = 'json' | 'yaml' | 'protobuf' | 'cbor'

/** The transform that the client requests with `as=`. */
export interface Transform {
  readonly as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface Representation {
  readonly encoding: Encoding
  readonly transform?: Transform
  readonly pretty: boolean
}

export interface Clause {
  readonly type: string
  readonly subtype: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

const maxAcceptLength = 4096
/** Maximum size of the cached Accept headers, in bytes. */
const maxCachedBytes = 256 * 1024

/** The clauses of an Accept header, the preferred one first. `Negotiator` caches them: clients send few different headers. */
export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = []
  for (const part of header.slice(0, maxAcceptLength).split(',')) {
    const [range = '', ...pairs] = part.split(';')
    const [type = '', subtype = type.trim() === '*' ? '*' : '', ...more] = range.split('/').map((each) => trimSpaces(each))
    if (subtype === '' || more.length > 0) continue
    const parameters = new Map<string, string>()
    let quality = 1
    for (const pair of pairs) {
      const [name = '', value = '', ...rest] = pair.split('=')
      if (value === '' || rest.length > 0) continue
      if (trimSpaces(name) === 'q') quality = numeric.test(value) ? Number(value) : 0
      else parameters.set(trimSpaces(name), trimSpaces(value))
    }
    clauses.push({ type, subtype, parameters, quality })
  }
  return preferred(clauses)
}

const numeric = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

function trimSpaces(text: string): string {
  let start = 0
  while (text[start] === ' ') start++
  return trimRight(text.slice(start), ' ')
}

/**
 * Maximum number of clauses that are sorted by insertion like kube-apiserver does; its comparison is not transitive, so the algorithm
 * matters.
 */
const maxInserted = 12

/** Sorts by weight. As on kube-apiserver, a specific type also precedes an adjacent wildcard with a higher weight. */
function preferred(clauses: Clause[]): readonly Clause[] {
  if (clauses.length > maxInserted) return clauses.sort((a, b) => b.quality - a.quality)
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0; j--) {
      const [before, after] = [clauses[j - 1] as Clause, clauses[j] as Clause]
      if (!precedes(after, before)) break
      clauses[j - 1] = after
      clauses[j] = before
    }
  }
  return clauses
}

function precedes(a: Clause, b: Clause): boolean {
  return a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')
}

/** The media types of an Accept header without their parameters, as the router compares them. */
function typesOf(header: string): ReadonlySet<string> {
  return new Set(
    header
      .slice(0, maxAcceptLength)
      .split(',')
      .map((each) => trimSpaces(each.split(';', 1)[0] ?? '')),
  )
}

/** The encodings that a server can send, in order of preference. */
const available: readonly { encoding: Encoding; type: string; subtype: string }[] = [
  { encoding: 'json', type: 'application', subtype: 'json' },
  { encoding: 'yaml', type: 'application', subtype: 'yaml' },
  { encoding: 'protobuf', type: 'application', subtype: 'vnd.kubernetes.protobuf' },
  { encoding: 'cbor', type: 'application', subtype: 'cbor' },
]

const everyEncoding: readonly Encoding[] = ['json', 'yaml', 'protobuf', 'cbor']

export interface NegotiationOptions {
  /** Encodings of the untransformed object, where transforms support more encodings. */
  readonly plain?: readonly Encoding[]
  /** Available transforms. */
  readonly transforms?: readonly Transform['as'][]
  /** Whether the response is an error, whose Accept header is not cached. */
  readonly refusal?: boolean
}

/** A parsed Accept header. */
interface Accepted {
  readonly clauses: readonly Clause[]
  readonly types: ReadonlySet<string>
}

const streamable: readonly Encoding[] = ['json', 'protobuf', 'cbor']

/**
 * Negotiates response forms. Each server has one, with a cache of headers.
 *
 * As on kube-apiserver, there are two stages. The router compares media types literally, without wildcards other than `*` + `/*` and
 * without parameters. Then the handler chooses encoding and transform.
 */
export class Negotiator {
  readonly #parsed = new ByteBoundedCache<Accepted>({
    maxBytes: maxCachedBytes,
    maxKeyLength: maxAcceptLength,
    // A clause consists of several objects, with substrings of the header.
    weigh: ({ clauses, types }, header) => (clauses.length + types.size) * 256 + header.length * 2,
  })
  readonly #vendor: string
  readonly #metaGroup: string
  readonly #available: typeof available
  /** Media types of streams, of objects, and of collections, which produce both. */
  readonly #streamed: readonly string[]
  readonly #objects: readonly string[]
  readonly #collections: readonly string[]

  /** @param cbor whether objects have a CBOR form. */
  constructor({ vendor, apiDomain }: Pick<NamingProfile, 'vendor' | 'apiDomain'>, { cbor = false } = {}) {
    this.#vendor = vendor
    this.#metaGroup = metaGroup({ apiDomain })
    const isServed = (encoding: Encoding) => cbor || encoding !== 'cbor'
    this.#available = available.filter(({ encoding }) => isServed(encoding))
    this.#streamed = streamable.filter(isServed).map((encoding) => streamType(encoding, vendor))
    this.#objects = everyEncoding.filter(isServed).map((encoding) => mediaType(encoding, vendor))
    this.#collections = [...this.#objects, ...this.#streamed]
  }

  /** Number of cached headers. */
  get remembered(): number {
    return this.#parsed.count
  }

  /**
   * The first stage, which the router performs.
   *
   * @param produces media types that the route produces
   * @throws ApiError 406 that lists them.
   */
  requireAccepted(accept: string | undefined, produces: readonly string[]): void {
    if (produces.length > 0) {
      if (accept === undefined || accept === '') return
      const { types } = this.#parsed.get(accept) ?? parsed(accept)
      if (types.has('*/*') || produces.some((type) => types.has(type))) return
    }
    const serverMessage = `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`
    throw ApiError.generic(406, { serverMessage })
  }

  /** The media types of objects; for the route of a collection, also those of streams. */
  produced({ collection = false } = {}): readonly string[] {
    return collection ? this.#collections : this.#objects
  }

  /**
   * The second stage, which the handler performs.
   *
   * @throws ApiError 406 that lists the available types.
   */
  negotiate(accept: string | undefined, options: NegotiationOptions = {}): Representation {
    if (accept === undefined || accept === '') return { encoding: 'json', pretty: false }
    const known = this.#parsed.get(accept)
    const header = known ?? parsed(accept)
    const chosen = this.#choose(header.clauses, options)
    if (chosen === undefined) {
      throw ApiError.notAcceptable(`only the following media types are accepted: ${this.produced().join(', ')}`)
    }
    if (known === undefined && options.refusal !== true) this.#parsed.set(accept, header)
    return chosen
  }

  /** The additional check of a watch stream, which has no YAML form. @throws ApiError 406 that lists the available types. */
  requireStream({ encoding }: Representation): void {
    if (encoding === 'yaml')
      throw ApiError.notAcceptable(`only the following media types are accepted: ${this.#streamed.join(', ')}`)
  }

  #choose(clauses: readonly Clause[], { plain, transforms = [] }: NegotiationOptions): Representation | undefined {
    for (const { type: wantedType, subtype: wantedSubtype, parameters } of clauses) {
      for (const { encoding, type, subtype } of this.#available) {
        const name = encoding === 'protobuf' ? `vnd.${this.#vendor}.protobuf` : subtype
        const matches =
          (wantedType === type && (wantedSubtype === name || wantedSubtype === '*')) ||
          (wantedType === '*' && wantedSubtype === '*')
        if (!matches) continue
        const transform = transformOf(parameters, transforms, this.#metaGroup)
        // Cells of a Table have any type, which protobuf cannot express.
        if (transform === 'unavailable' || (transform?.as === 'Table' && encoding === 'protobuf')) continue
        if (transform === undefined && plain?.includes(encoding) === false) continue
        const pretty = parameters.get('pretty') === '1'
        return { encoding, pretty, ...(transform === undefined ? {} : { transform }) }
      }
    }
    return undefined
  }
}

function parsed(accept: string): Accepted {
  return { clauses: parseAccept(accept), types: typesOf(accept) }
}

/** The group of tables, partial objects and options: `meta.{api_domain}`. */
export function metaGroup({ apiDomain }: Pick<NamingProfile, 'apiDomain'>): string {
  return `meta.${apiDomain}`
}

/** The media type of a watch stream. Streams of CBOR items have another one. */
export function streamType(encoding: Encoding, vendor: string): string {
  return encoding === 'cbor' ? 'application/cbor-seq' : `${mediaType(encoding, vendor)};stream=watch`
}

export function mediaType(encoding: Encoding, vendor: string): string {
  return encoding === 'protobuf' ? `application/vnd.${vendor}.protobuf` : `application/${encoding}`
}

function transformOf(
  parameters: ReadonlyMap<string, string>,
  allowed: readonly Transform['as'][],
  group: string,
): Transform | undefined | 'unavailable' {
  // Fast path: most clients request no transform.
  if (parameters.size === 0) return undefined
  const stream = parameters.get('stream') ?? 'watch'
  if (stream !== 'watch') return 'unavailable'
  const as = parameters.get('as')
  const version = parameters.get('v')
  // An incomplete transform cannot be satisfied.
  if (as === undefined) return version === undefined && !parameters.has('g') ? undefined : 'unavailable'
  const known = allowed.find((name) => name === as)
  if (known === undefined || parameters.get('g') !== group || !isMetaVersion(version)) return 'unavailable'
  return { as: known, version }
}

function isMetaVersion(version: string | undefined): version is Transform['version'] {
  return version === 'v1' || version === 'v1beta1'
}
