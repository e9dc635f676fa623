import type { StatusDetails } from '@krmkit/meta'
import type { AuditLevel } from '../request/context.ts'

export type { AuditLevel }

/** Stages of a request that generate events. `ResponseStarted` is for long-running requests and failed authentication only. */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic'

export interface AuditUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The object of a request; empty members are omitted. */
export interface AuditObjectRef {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly subresource?: string
}

export interface AuditStatus {
  readonly metadata: object
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

/** An `Event` of `audit.k8s.io/v1`, with members in the order of kube-apiserver. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: string
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  /** The impersonated user. */
  readonly impersonatedUser?: AuditUser
  readonly authenticationMetadata?: {
    /** The verb of the mode that allowed a constrained impersonation: `impersonate:user-info`. */
    readonly impersonationConstraint: string
  }
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: AuditObjectRef
  readonly responseStatus?: AuditStatus
  /** Set at level `Request` and above. */
  readonly requestObject?: unknown
  /** Set at level `RequestResponse`. */
  readonly responseObject?: unknown
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** Decision of a policy about a request. */
export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** Attributes of a request for audit policies. */
export interface AuditAttributes {
  readonly user: { readonly username: string; readonly groups: readonly string[] } | undefined
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

export interface AuditPolicy {
  decide(attributes: AuditAttributes): AuditDecision
}

/** Destination of audit events. */
export interface AuditBackend {
  /**
   * Processes events. The request waits for a returned promise, so a buffering backend returns nothing.
   *
   * @throws when events are lost. With a `strict` backend, losing the `RequestReceived` event fails the request.
   */
  process(events: readonly AuditEvent[]): void | Promise<void>
  /** Whether a request fails when its first event is lost. Default false. */
  readonly strict?: boolean
  /** Delivers buffered events, or gives up after a time limit. */
  close?(): Promise<void>
}

/** Sends the events of requests that a policy selects to a backend. */
export interface AuditTrail {
  readonly policy: AuditPolicy
  readonly backend: AuditBackend
}

/** Called once per request, at level `Metadata`: when the response is complete, or for a watch when it starts. */
export type AuditSink = (event: AuditEvent) => void
