import type { AdmissionDecision } from '@krmkit/admission'
import type { UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { NotedObject } from './audit/bodies.ts'
import type { Query } from './query.ts'
import type { RequestInfo } from './request-info.ts'
import type { RequestSelectors } from './request-selectors.ts'

/** One request in the filter chain. Each filter sets its own members. */
export interface RequestContext {
  /** Authentication replaces it with a request without credential headers. */
  request: ApiRequest
  info: RequestInfo
  readonly query: Query
  /** Parsed on first use. @see requestSelectors */
  selectors: RequestSelectors | undefined
  /** Set by authentication, and replaced by impersonation. */
  user: UserInfo
  /** The authenticated user of an impersonated request. */
  impersonator?: UserInfo | undefined
  /** Texts of Warning headers, in order. */
  readonly warnings: string[]
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  readonly startedAt: number
  /** The Audit-ID of the request. */
  readonly auditId: string
  /** Annotations of the audit event. */
  readonly annotations: Record<string, string>
  /** Highest level of the audit policies for the request; set after authentication. */
  auditLevel: AuditLevel
  /** The audit policies have been evaluated. */
  isAudited: boolean
  /** Annotations for audit policies that log bodies. */
  readonly detailAnnotations: Record<string, string>
  /** Decisions of admission plugins, recorded where an audit policy logs bodies. */
  readonly decisions: AdmissionDecision[]
  /** The object to be written, for the audit event. */
  requestObject: NotedObject | undefined
  /** Response headers with the flow schema and priority level of the request. */
  flowHeaders: Readonly<Record<string, string>> | undefined
  /** The internal error of a request that failed with 500. */
  fault: unknown
  /** Milliseconds since the epoch when the request times out; set by the timeout filter. */
  deadline: number | undefined
  /** Called when the initial state of a watch has been sent; set by priority and fairness. */
  watchInitialized: (() => void) | undefined
}

/** Audit levels: nothing, metadata, request body, response body. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse'

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * The context of an incoming request. A class, because object literals with accessors do not share a hidden class.
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
  requestObject: NotedObject | undefined = undefined
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

  /** Forwarded lazily: the adapter creates the signal on first use, and most requests end before. */
  get signal(): AbortSignal {
    return this.request.signal
  }
}

/** A filter either responds or calls the rest of the chain. */
export type Filter = (context: RequestContext, next: () => Promise<ApiResponse>) => Promise<ApiResponse>

/** Composes filters in execution order with the handler at their end. */
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
