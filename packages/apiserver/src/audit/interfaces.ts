import type { StatusDetails } from '@krmkit/meta'
import type { AuditLevel } from '../request-context.ts'

export type { AuditLevel }

/** Moments of a request at which the trail is told. `ResponseStarted` only of requests that last, and of failed authentication. */
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic'

export interface AuditUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What a request is about; members that are empty are left out. */
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

/** One entry of the trail, an `Event` of `audit.k8s.io/v1` with members in the order of the stock server. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: string
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  /** Who the user acted as. */
  readonly impersonatedUser?: AuditUser
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: AuditObjectRef
  readonly responseStatus?: AuditStatus
  /** From level `Request` on. */
  readonly requestObject?: unknown
  /** From level `RequestResponse` on. */
  readonly responseObject?: unknown
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** What a policy decides about a request. */
export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** What a policy sees of a request. */
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

/** Where entries go. */
export interface AuditBackend {
  /**
   * Takes entries. A request waits for what is returned, so a backend that collects entries returns nothing.
   *
   * @throws when the entry is lost; of `RequestReceived` the request then fails, of a backend that is `strict`.
   */
  process(events: readonly AuditEvent[]): void | Promise<void>
  /** A request is not served when its first entry cannot be kept. Default false. */
  readonly strict?: boolean
  /** Everything taken so far is delivered, or given up. */
  close?(): Promise<void>
}

/** Entries of requests that a policy chooses, and where they go. */
export interface AuditTrail {
  readonly policy: AuditPolicy
  readonly backend: AuditBackend
}

/** Hears of every request once it is answered, of a watch when its answer begins: who did what, and how it ended; never of bodies. */
export type AuditSink = (event: AuditEvent) => void
