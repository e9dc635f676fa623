import type { AdmissionDecision } from '@krmkit/admission'
import type { UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { AuditedObject } from './audit/bodies.ts'
import type { Query } from './query.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestSelectors } from './request-selectors.ts'

/** One request on its way through the filters. Each filter may fill in what it is there for. */
export interface RequestContext {
  /** Authentication may replace it by one without the headers that were meant for it alone. */
  request: ApiRequest
  info: RequestInfo
  readonly query: Query
  /** Read when they are looked at for the first time; see `requestSelectors`. */
  selectors: RequestSelectors | undefined
  /** Set by authentication; by impersonation when the caller acts as somebody else. */
  user: UserInfo
  /** Who asks, when that is not `user`. */
  impersonator?: UserInfo | undefined
  /** Texts of Warning headers, in the order in which they were given. */
  readonly warnings: string[]
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  readonly startedAt: number
  /** The Audit-ID of the request. */
  readonly auditId: string
  /** What stages noted for the audit trail. */
  readonly annotations: Record<string, string>
  /** How much of the request the audit trail keeps; decided after authentication. */
  auditLevel: AuditLevel
  /** The trails have been asked whether they keep the request. */
  isAudited: boolean
  /** As `annotations`, for trails that keep bodies. */
  readonly detailAnnotations: Record<string, string>
  /** What admission plugins decided, noted where a trail keeps bodies. */
  readonly decisions: AdmissionDecision[]
  /** What the request wants to write, noted for the audit trail. */
  requestObject: AuditedObject | undefined
  /** What the answer tells of how the request was classed; undefined: nothing. */
  flowHeaders: Readonly<Record<string, string>> | undefined
  /** What went wrong in the server itself; undefined when nothing did. */
  fault: unknown
  /** Milliseconds since the epoch after which nobody waits for the answer; set by the time limit. */
  deadline: number | undefined
  /** Called once the initial state of a watch has been handed on; set by priority and fairness. */
  watchInitialized: (() => void) | undefined
}

/** How much the audit trail keeps: nothing, who did what, that and the body, that and the answer. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse'

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * A request that has just arrived. A class and not a literal: to the engine, objects with accessors of their own are each a shape
 * of their own.
 */
export class IncomingRequest implements RequestContext {
  request: ApiRequest
  info: RequestInfo
  readonly query: Query
  selectors: RequestSelectors | undefined = undefined
  user: UserInfo = anonymous
  impersonator: UserInfo | undefined = undefined
  readonly warnings: string[] = []
  readonly startedAt: number
  readonly auditId: string
  readonly annotations: Record<string, string> = {}
  auditLevel: AuditLevel = 'None'
  isAudited = false
  readonly detailAnnotations: Record<string, string> = {}
  readonly decisions: AdmissionDecision[] = []
  requestObject: AuditedObject | undefined = undefined
  flowHeaders: Readonly<Record<string, string>> | undefined = undefined
  fault: unknown = undefined
  deadline: number | undefined = undefined
  watchInitialized: (() => void) | undefined = undefined

  constructor(request: ApiRequest, parts: Pick<RequestContext, 'info' | 'query' | 'startedAt' | 'auditId'>) {
    this.request = request
    this.info = parts.info
    this.query = parts.query
    this.startedAt = parts.startedAt
    this.auditId = parts.auditId
  }

  /** Made only when somebody listens: most requests end before anybody does. */
  get signal(): AbortSignal {
    return this.request.signal
  }
}

/** A filter: looks at the request, and either answers or asks the rest of the chain. */
export type Filter = (context: RequestContext, next: () => Promise<ApiResponse>) => Promise<ApiResponse>

/** Filters in execution order, then the dispatcher. */
export function compose(
  filters: readonly Filter[],
  dispatch: (context: RequestContext) => Promise<ApiResponse>,
): (context: RequestContext) => Promise<ApiResponse> {
  const run = (context: RequestContext, index: number): Promise<ApiResponse> => {
    const filter = filters[index]
    return filter === undefined ? dispatch(context) : filter(context, () => run(context, index + 1))
  }
  return (context) => run(context, 0)
}

/** First value of a request header. */
export function header(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}
