/** Admission webhooks: the two plugins, the client that calls webhooks, and the contracts of transport, resolvers and metrics. */

export type { RejectionCause, WebhookLabels, WebhookMetrics, WebhookType } from '../metrics.ts'
export {
  type Endpoint,
  type EndpointConfig,
  type EndpointPostOptions,
  WebhookClient,
  type WebhookClientOptions,
} from './client.ts'
export { type ConversionResponse, type ConversionReview, readConversionReview } from './conversion-review.ts'
export { createCredentialsResolver, type KubeconfigUsers } from './credentials.ts'
export { jsonKind } from './go-json.ts'
export type { ClientConfig } from './hook.ts'
export type * from './interfaces.ts'
export { mutatingWebhooks } from './mutating.ts'
export type { WebhookEnvironment, WebhookOptions } from './options.ts'
export type { ReviewScheme } from './review-body.ts'
export { createClusterServiceResolver } from './service-resolver.ts'
export { validatingWebhooks } from './validating.ts'
export { WebhookError, type WebhookErrorCode } from './webhook-error.ts'
