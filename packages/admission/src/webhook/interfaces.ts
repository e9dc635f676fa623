import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import type { AdmissionAttributes } from '../interfaces.ts'

/**
 * What webhooks need from outside: a way to reach them, somebody who knows where services are, an evaluator of expressions, and
 * somebody who counts. Nothing here opens a connection.
 */

/** The end of connections: whose certificate is expected there, and who we are. */
export interface WebhookTarget {
  /** `https://host:port` */
  readonly origin: string
  /** PEM of the authorities to trust. Absent: those of the platform. */
  readonly ca?: string
  /** PEM of a client certificate and its key. */
  readonly certificate?: string
  readonly key?: string
  /** Name that the certificate must have, when it is not the host of `origin`. */
  readonly serverName?: string
  /** Where to connect, asked for every request, when it is not where `origin` says. Rejects with what to tell. */
  readonly resolve?: () => Promise<ServiceAddress>
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

export interface WebhookRequest {
  readonly method: 'POST' | 'GET'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** Answers with longer bodies are given up. */
  readonly limitBytes: number
}

export interface WebhookAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** Sends one request; rejects with an Error whose message tells why there is no answer. */
export type SendToWebhook = (request: WebhookRequest) => Promise<WebhookAnswer>

/** Reaches webhooks over HTTPS, with connections kept for later requests to the same target. */
export interface WebhookTransport {
  /** @throws Error when authorities, certificate or key cannot be used. */
  open(target: WebhookTarget): SendToWebhook
}

/** Finds a service of the cluster. Rejects with what to tell. */
export type ServiceResolver = (service: {
  readonly namespace: string
  readonly name: string
  readonly port: number
}) => ServiceAddress | Promise<ServiceAddress>

/** Who we are to a webhook. */
export interface WebhookCredentials {
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  readonly serverName?: string
  /** Value of the `authorization` header; asked for every request, since tokens are renewed. */
  readonly authorization?: () => string | undefined | Promise<string | undefined>
}

/** The credentials for a host and port such as `hook.shop.svc:443`. Absent: none. */
export type CredentialsFor = (hostAndPort: string) => WebhookCredentials | undefined

/** `admission.k8s.io/v1` or `v1beta1`, as a webhook is shown it. */
export interface AdmissionReview {
  readonly kind: 'AdmissionReview'
  readonly apiVersion: string
  readonly request: DeepReadonly<JsonObject>
}

/** What a webhook that is a function answers; members that are left out are filled in. */
export interface AdmissionVerdict {
  readonly allowed: boolean
  readonly status?: object
  /** Operations of a JSON patch; only of mutating webhooks. */
  readonly patch?: readonly object[]
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/**
 * A webhook in this process. It is named by the URL that configurations give, or by `https://name.namespace.svc:port/path` of a
 * service. What it is shown is shared: it must change nothing.
 */
export type InProcessWebhook = (
  review: AdmissionReview,
  options: { readonly signal: AbortSignal },
) => AdmissionVerdict | Promise<AdmissionVerdict>

/** A condition in the expression language that narrows down when a webhook is called. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

export interface ConditionInput {
  readonly attributes: AdmissionAttributes
  /** In the version that the webhook wants; null where there is none. */
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
  /** The AdmissionRequest without its objects. */
  readonly request: DeepReadonly<JsonObject>
}

/** `error` only when no condition is false: one false condition is enough. */
export type ConditionVerdict =
  | { readonly outcome: 'match' }
  | { readonly outcome: 'noMatch' }
  | { readonly outcome: 'error'; readonly message: string }

/** Compiles conditions once for each webhook. */
export interface MatchConditions {
  compile(conditions: readonly MatchCondition[]): (input: ConditionInput) => ConditionVerdict | Promise<ConditionVerdict>
}

export type WebhookType = 'admit' | 'validating'

/** Which webhook, in which role, asked about which operation. */
export interface WebhookLabels {
  readonly name: string
  readonly type: WebhookType
  readonly operation: string
}

/** Why a webhook ended a request: it could not be asked, it refused, or what it wanted could not be done. */
export type RejectionCause = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error'

/** Hears what becomes of calls. @see API protocol specification, 6 */
export interface WebhookMetrics {
  /** A call has ended. `code` is the HTTP status that it amounts to, 200 when the webhook allowed. */
  called(labels: WebhookLabels, result: { readonly seconds: number; readonly rejected: boolean; readonly code: number }): void
  rejected(labels: WebhookLabels, result: { readonly cause: RejectionCause; readonly code: number }): void
  /** A call failed, and its webhook says that this is to be ignored. */
  failedOpen(labels: WebhookLabels): void
  /** Conditions kept the webhook from being called. */
  excluded(labels: WebhookLabels): void
}
