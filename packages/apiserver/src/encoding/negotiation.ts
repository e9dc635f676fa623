import { ApiError, type NamingProfile } from '@krmkit/meta'
import { ByteBoundedCache } from '@krmkit/meta/byte-bounded-cache'

/**
 * Content negotiation; @see API protocol specification, 4.4.
 */

export type Encoding = 'json' | 'yaml' | 'protobuf'

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
/** Bytes of cached Accept headers. */
const maxCachedBytes = 256 * 1024

/** The clauses of an Accept header by descending weight. `Negotiator` caches them: clients send few different headers. */
export function parseAccept(header: string): readonly Clause[] {
  const clauses: Clause[] = []
  for (const part of header.slice(0, maxAcceptLength).split(',')) {
    const [range = '', ...pairs] = part.split(';')
    const [type = '', subtype = ''] = range.trim().toLowerCase().split('/')
    if (type === '') continue
    const parameters = new Map<string, string>()
    let quality = 1
    for (const pair of pairs) {
      const at = pair.indexOf('=')
      if (at < 0) continue
      const name = pair.slice(0, at).trim().toLowerCase()
      const value = pair
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
      if (name === 'q') {
        const parsed = Number(value)
        quality = Number.isFinite(parsed) ? parsed : 1
      } else parameters.set(name, value)
    }
    clauses.push({ type, subtype, parameters, quality })
  }
  // The sort is stable: equal weights keep the order of the header.
  return clauses.filter((clause) => clause.quality > 0).sort((a, b) => b.quality - a.quality)
}

/** The encodings that a server can send, in order of preference. */
const available: readonly { encoding: Encoding; type: string; subtype: string }[] = [
  { encoding: 'json', type: 'application', subtype: 'json' },
  { encoding: 'yaml', type: 'application', subtype: 'yaml' },
  { encoding: 'protobuf', type: 'application', subtype: 'vnd.kubernetes.protobuf' },
]

const everyEncoding: readonly Encoding[] = ['json', 'yaml', 'protobuf']

export interface NegotiationOptions {
  /** Encodings of the response. */
  readonly encodings?: readonly Encoding[]
  /** Encodings of the untransformed object, where transforms have more. */
  readonly plain?: readonly Encoding[]
  /** Available transforms. */
  readonly transforms?: readonly Transform['as'][]
  /** The response is a watch stream. */
  readonly stream?: boolean
  /** The path is that of a collection, which can be watched: refusals name the types of streams too. */
  readonly collection?: boolean
  readonly vendor?: string
  /** The response is an error: its header is not cached. */
  readonly refusal?: boolean
}

/** Negotiates response forms. Each server has one, with a cache of headers. */
export class Negotiator {
  readonly #parsed = new ByteBoundedCache<readonly Clause[]>({
    maxBytes: maxCachedBytes,
    maxKeyLength: maxAcceptLength,
    // A clause consists of several objects, with substrings of the header.
    weigh: (clauses, header) => clauses.length * 256 + header.length * 2,
  })
  readonly #vendor: string
  readonly #metaGroup: string

  constructor({ vendor, apiDomain }: Pick<NamingProfile, 'vendor' | 'apiDomain'>) {
    this.#vendor = vendor
    this.#metaGroup = metaGroup({ apiDomain })
  }

  /** Number of cached headers. */
  get remembered(): number {
    return this.#parsed.count
  }

  /** @throws ApiError 406 that lists the available types. */
  negotiate(accept: string | undefined, options: NegotiationOptions = {}): Representation {
    const { encodings = everyEncoding, transforms = [], stream = false } = options
    if (accept === undefined || accept === '') return { encoding: encodings[0] ?? 'json', pretty: false }
    let isKnownType = options.plain !== undefined
    /** Lists can have this form, streams cannot. */
    let isForWhole = false
    const known = this.#parsed.get(accept)
    const clauses = known ?? parseAccept(accept)
    for (const clause of clauses) {
      for (const { encoding, type, subtype } of available) {
        const isSent = encodings.includes(encoding)
        if (!isSent && !stream) continue
        const name = encoding === 'protobuf' ? `vnd.${this.#vendor}.protobuf` : subtype
        const matches =
          (clause.type === type && (clause.subtype === name || clause.subtype === '*')) ||
          (clause.type === '*' && clause.subtype === '*')
        if (!matches) continue
        isKnownType = true
        const wanted = transformOf(clause, transforms, this.#metaGroup)
        // Cells of a Table have any type, which protobuf cannot express.
        if (wanted === 'unavailable' || (wanted?.as === 'Table' && encoding === 'protobuf')) continue
        if (wanted === undefined && options.plain?.includes(encoding) === false) continue
        if (!isSent) {
          isForWhole = true
          continue
        }
        if (known === undefined && options.refusal !== true) this.#parsed.set(accept, clauses)
        return {
          encoding,
          ...(wanted === undefined ? {} : { transform: wanted }),
          pretty: clause.parameters.get('pretty') === '1',
        }
      }
    }
    if (isForWhole) {
      const types = encodings.map((each) => `${mediaType(each, this.#vendor)};stream=watch`)
      throw ApiError.notAcceptable(`only the following media types are accepted: ${types.join(', ')}`)
    }
    if (isKnownType) {
      const types = (stream ? everyEncoding : encodings).map((each) => mediaType(each, this.#vendor))
      throw ApiError.notAcceptable(`only the following media types are accepted: ${types.join(', ')}`)
    }
    const { code = 406, ...refusal } = ApiError.notAcceptable(this.#refusal(stream ? everyEncoding : encodings, options)).status
    throw new ApiError({ ...refusal, details: {}, code })
  }

  #refusal(encodings: readonly Encoding[], { collection = false }: NegotiationOptions): string {
    const types = encodings.map((encoding) => mediaType(encoding, this.#vendor))
    if (collection) types.push('application/json;stream=watch', `${mediaType('protobuf', this.#vendor)};stream=watch`)
    return `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`
  }
}

/** The group of tables, partial objects and options: `meta.{api_domain}`. */
export function metaGroup({ apiDomain }: Pick<NamingProfile, 'apiDomain'>): string {
  return `meta.${apiDomain}`
}

export function mediaType(encoding: Encoding, vendor: string): string {
  return encoding === 'protobuf' ? `application/vnd.${vendor}.protobuf` : `application/${encoding}`
}

function transformOf(clause: Clause, allowed: readonly Transform['as'][], group: string): Transform | undefined | 'unavailable' {
  const { parameters } = clause
  // Most clients request no transform.
  if (parameters.size === 0) return undefined
  const as = parameters.get('as')
  const version = parameters.get('v')
  // An incomplete transform cannot be satisfied.
  if (as === undefined) return version === undefined && !parameters.has('g') ? undefined : 'unavailable'
  const known = allowed.find((name) => name === as)
  if (known === undefined || parameters.get('g') !== group || (version !== 'v1' && version !== 'v1beta1')) return 'unavailable'
  return { as: known, version }
}
