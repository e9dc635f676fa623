import type { Authenticator, ServiceAccountIssuer } from '@krmkit/authentication'
import type { Authorizer } from '@krmkit/authorization'
import { managerName, unknownManager } from '@krmkit/fieldmanager'
import type { KindInfo, ResourceDefinition, ResourceInfo } from '@krmkit/kinds'
import type { GroupVersionKind } from '@krmkit/meta'
import type { ObjectCache, WriteContext, Writer } from '@krmkit/registry'
import type { WatchCounts } from './flow-control/watch-counts.ts'
import type { ListChunkCache } from './list-chunk-cache.ts'
import type { Encoding, NegotiationOptions, Representation } from './negotiation.ts'
import { text, type WriteOptions, writeOptions } from './query.ts'
import type { RequestContext } from './request-context.ts'
import { header } from './request-context.ts'
import type { ResponseWriter } from './responses.ts'
import type { VersionCodec } from './version-codec.ts'
import type { YamlTranslator } from './yaml-translator.ts'

/** What the handlers of resources are made of. */
export interface Machinery {
  readonly writer: Writer
  readonly parsed: ObjectCache
  readonly responder: ResponseWriter
  readonly authorizer: Authorizer
  readonly authenticator: Authenticator
  /** Issues tokens of service accounts; absent: none are issued. */
  readonly issuer: ServiceAccountIssuer | undefined
  readonly limits: {
    /** Bytes of a request body. */
    readonly bodyBytes: number
    /** Bytes that a stored object may have. */
    readonly objectBytes: number
    /** Shortest life of a watch that sets no timeout, in milliseconds; the longest is twice that. */
    readonly watchMs: number
  }
  /** Translates large bodies in YAML; absent: they are refused. */
  readonly yamlTranslator: YamlTranslator | undefined
  /** Aborts when the server closes: watches end cleanly. */
  readonly closing: AbortSignal
  view(definition: ResourceDefinition): VersionCodec
  /** Stretches of lists that were sent before. */
  readonly runs: ListChunkCache
  /** The watches that are being served. */
  readonly watches: WatchCounts
  /** A served resource, by any version. */
  resource(gvr: { group: string; version: string; resource: string }): ResourceDefinition | undefined
  /** Hears when other resources are served than before. @returns what ends that. */
  onChange(listener: () => void): () => void
  /** The served resource that holds objects of a group and plural, whatever the version. */
  stored(group: string, resource: string): ResourceDefinition | undefined
  /** Hears of requests for deprecated versions. */
  deprecatedRequest(definition: ResourceDefinition, subresource: string): void
  /** A list kind the server knows. */
  knowsList(gvk: GroupVersionKind): boolean
  /** Any kind the server knows. */
  kind(gvk: GroupVersionKind): KindInfo | undefined
}

/** One request to a resource, with all that was found out about it. */
export interface ResourceRequest {
  readonly machinery: Machinery
  readonly state: RequestContext
  readonly definition: ResourceDefinition
  readonly view: VersionCodec
  /** The sub-resource that is addressed. */
  readonly subresource: ResourceInfo | undefined
}

const withoutProtobuf: readonly Encoding[] = ['json', 'yaml']

/** The form that the client wants of an answer. Custom resources have no protobuf form. @throws ApiError 406 */
export function negotiated({ machinery, state, definition }: ResourceRequest, options: NegotiationOptions = {}): Representation {
  const accept = header(state.request, 'accept')
  return machinery.responder.negotiator.negotiate(
    accept,
    definition.custom === undefined ? options : { ...options, plain: withoutProtobuf },
  )
}

/** The options of a write, from the query. @throws ApiError 422 that names the parameter. */
export function requestedOptions({ machinery, state }: ResourceRequest, kind: string, apply = false): WriteOptions {
  return writeOptions(state.query, kind, { apply, profile: machinery.writer.environment.profile })
}

/** The context that a write hands to the registry. */
export function writeContext({ state }: ResourceRequest, options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>): WriteContext {
  return new RequestWriteContext(state, options)
}

/** What the client asked for beside the object, as it asked for it. */
function givenOptions({ query }: RequestContext, dryRun: boolean): Readonly<Record<string, unknown>> {
  const fieldManager = text(query, 'fieldManager') ?? ''
  const fieldValidation = text(query, 'fieldValidation') ?? ''
  return {
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  }
}

class RequestWriteContext implements WriteContext {
  readonly user: WriteContext['user']
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly #state: RequestContext

  constructor(state: RequestContext, options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>) {
    this.user = state.user
    this.dryRun = options.dryRun
    this.fieldManager = managerName(options.fieldManager, header(state.request, 'user-agent')) || unknownManager
    this.#state = state
  }

  get signal(): AbortSignal {
    return this.#state.signal
  }

  get deadline(): number | undefined {
    return this.#state.deadline
  }

  get options(): Readonly<Record<string, unknown>> {
    return givenOptions(this.#state, this.dryRun)
  }

  /** Heard by the caller, and by trails that keep bodies. */
  get decisions(): WriteContext['decisions'] {
    const { request, auditLevel, decisions } = this.#state
    if (auditLevel === 'None' || auditLevel === 'Metadata') return request.decisions
    return (decision) => {
      decisions.push(decision)
      request.decisions?.(decision)
    }
  }

  /** Nothing is worked out for a trail that nobody keeps. */
  get annotate(): WriteContext['annotate'] {
    return this.#state.auditLevel === 'None' ? undefined : this.#annotate
  }

  readonly #annotate = (key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void => {
    const { auditLevel, annotations, detailAnnotations } = this.#state
    if (level === 'Request' && auditLevel === 'Metadata') return
    const kept = level === 'Request' ? detailAnnotations : annotations
    if (!Object.hasOwn(kept, key)) kept[key] = value
  }

  readonly warn = (text: string): void => {
    this.#state.warnings.push(text)
  }
}
