import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import type { ServiceAddress } from '@krmkit/protocol'
import type { AdmissionAttributes } from '../interfaces.ts'

/**
 * The dependencies of webhook calls: a transport, a service resolver, an evaluator of match conditions, and metrics. Nothing in this
 * package opens a connection.
 */

/** Resolves a service of the cluster to an address. Throws or rejects with an Error for the caller. */
export type ServiceResolver = (service: {
  readonly namespace: string
  readonly name: string
  readonly port: number
}) => ServiceAddress | Promise<ServiceAddress>

/** Credentials that the server presents to a webhook. */
export interface WebhookCredentials {
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
  readonly serverName?: string
  /** Value of the `authorization` header; called for each request, since tokens expire. */
  readonly authorization?: () => string | undefined | Promise<string | undefined>
}

/** Resolves the credentials for a host and port such as `hook.shop.svc:443`; undefined: none. */
export type CredentialsResolver = (hostAndPort: string) => WebhookCredentials | undefined

/** An AdmissionReview of `admission.k8s.io/v1` or `v1beta1`. */
export interface AdmissionReview {
  readonly kind: 'AdmissionReview'
  readonly apiVersion: string
  readonly request: DeepReadonly<JsonObject>
}

/** The AdmissionResponse of an in-process webhook, without the members that the server can add. */
export interface InProcessWebhookResponse {
  readonly allowed: boolean
  readonly status?: object
  /** Operations of a JSON patch; for mutating webhooks only. */
  readonly patch?: readonly object[]
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/**
 * A webhook that is a function of this process, registered under the URL of its configuration, or under
 * `https://name.namespace.svc:port/path` for a service. The review is shared and must not be changed.
 */
export type InProcessWebhook = (
  review: AdmissionReview,
  options: { readonly signal: AbortSignal },
) => InProcessWebhookResponse | Promise<InProcessWebhookResponse>

/** A CEL condition of a webhook or policy. */
export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

export interface ConditionInput {
  readonly attributes: AdmissionAttributes
  /** In the version that the webhook matches; null when absent. */
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
  /** The AdmissionRequest without its objects. */
  readonly request: DeepReadonly<JsonObject>
}

/** `error` only when no condition is false, since one false condition decides. */
export type MatchConditionResult =
  | { readonly outcome: 'match' }
  | { readonly outcome: 'noMatch' }
  | { readonly outcome: 'error'; readonly message: string }

/** Compiles match conditions, once for each webhook. */
export interface MatchConditions {
  compile(conditions: readonly MatchCondition[]): (input: ConditionInput) => MatchConditionResult | Promise<MatchConditionResult>
}
