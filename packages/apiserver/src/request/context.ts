import type { AdmissionDecision } from '@krmkit/admission'
import type { RequestSpan } from '@krmkit/base/tracing'
import type { JsonValue, UserInfo } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { RequestInfo } from './info.ts'
import type { Query } from './query.ts'
import type { RequestSelectors } from './selectors.ts'

/** State of one request. Filters add their results: user, deadline, audit level and others. */
export interface RequestContext {
  /** The request. Authentication replaces it by a view without front-proxy headers. */
  request: ApiRequest
  info: RequestInfo
  readonly query: Query
  /** Parsed on first use by `requestSelectors`. */
  selectors: RequestSelectors | undefined
  /** The effective user: set by authentication, replaced by impersonation. */
  user: UserInfo
  /** The authenticated user of an impersonated request. */
  impersonator?: UserInfo | undefined
  /** The verb `impersonate:MODE` that allowed an impersonation; undefined for the verb `impersonate`. */
  impersonationConstraint?: string | undefined
  /** Texts of Warning headers, in order. */
  readonly warnings: string[]
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The Audit-ID of the request. */
  readonly auditId: string
  /** Audit annotations. */
  readonly annotations: Record<string, string>
  /** The highest level of all audit trails; decided after authentication. */
  auditLevel: AuditLevel
  /** Whether the audit level has been decided. */
  isAudited: boolean
  /** Further annotations for trails of level `Request` and above. */
  readonly detailAnnotations: Record<string, string>
  /** Decisions of admission plugins, recorded at level `Request` and above. */
  readonly decisions: AdmissionDecision[]
  /** The object in the request body, recorded for audit events. */
  requestObject: AuditedObject | undefined
  /** Response headers that filters add, such as the flow schema. */
  responseHeaders: Readonly<Record<string, string>> | undefined
  /** The internal error behind a response with status 500. */
  fault: unknown
  /** When the request times out, in milliseconds since the epoch; set by the timeout filter. */
  deadline: number | undefined
  /** Called when the initial state of a watch has been sent; set by priority and fairness. */
  watchInitialized: (() => void) | undefined
  /** The current span; undefined where requests are not traced. */
  span: RequestSpan | undefined
}

/** Metadata of an object for the `objectRef` of an event. */
export interface ObjectIdentity {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** The object in a request body. */
export interface AuditedObject {
  readonly identity: ObjectIdentity
  /** Undefined below level `Request`. */
  readonly value: JsonValue | undefined
}

/** Detail of audit events: none, metadata, with the request body, with request and response body. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse'

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * The context of a new request. A class instead of an object literal: literals with accessors each get a hidden class, which makes
 * every property access megamorphic.
 */
export class IncomingRequest implements RequestContext {
  request: ApiRequest
  info: RequestInfo
  readonly query: Query
  selectors: RequestSelectors | undefined = undefined
  user: UserInfo = anonymous
  impersonator: UserInfo | undefined = undefined
  impersonationConstraint: string | undefined = undefined
  readonly warnings: string[] = []
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly auditId: string
  readonly annotations: Record<string, string> = {}
  auditLevel: AuditLevel = 'None'
  isAudited = false
  readonly detailAnnotations: Record<string, string> = {}
  readonly decisions: AdmissionDecision[] = []
  requestObject: AuditedObject | undefined = undefined
  responseHeaders: Readonly<Record<string, string>> | undefined = undefined
  fault: unknown = undefined
  deadline: number | undefined = undefined
  watchInitialized: (() => void) | undefined = undefined
  span: RequestSpan | undefined = undefined

  constructor(request: ApiRequest, parts: Pick<RequestContext, 'info' | 'query' | 'startedAt' | 'auditId'>) {
    this.request = request
    this.info = parts.info
    this.query = parts.query
    this.startedAt = parts.startedAt
    this.auditId = parts.auditId
  }

  /** Read lazily, because adapters create the signal on first access. */
  get signal(): AbortSignal {
    return this.request.signal
  }
}

/** The rest of the request chain. It never throws: errors are rejections. */
export type NextFilter = (context: RequestContext) => Promise<ApiResponse>

/**
 * A filter of the request chain: returns a response, or calls `next` for the rest of the chain. It may throw or reject. A filter that does
 * not use the response of `next` returns the promise without `async`, because `async` would delay the response by several microtasks.
 */
export type Filter = (context: RequestContext, next: NextFilter) => Promise<ApiResponse>

/** Composes filters, in execution order, with the dispatcher at the end. The chain is built once, not for each request. */
export function compose(filters: readonly Filter[], dispatch: NextFilter): NextFilter {
  return filters.reduceRight<NextFilter>(
    (next, filter) => (context) => {
      try {
        return filter(context, next)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    dispatch,
  )
}

/** First value of a request header. */
export function header(request: ApiRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : value?.[0]
}
