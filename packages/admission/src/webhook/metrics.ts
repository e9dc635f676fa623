export type WebhookType = 'admit' | 'validating'

/** Metric labels of a call. */
export interface WebhookLabels {
  readonly name: string
  readonly type: WebhookType
  readonly operation: string
}

/** Metric label of a rejection: the call failed, the webhook refused, or its patch could not be applied. */
export type RejectionCause = 'calling_webhook_error' | 'no_error' | 'apiserver_internal_error'

/** Records the outcome of webhook calls. @see API protocol specification, 6 */
export interface WebhookMetrics {
  /** A call has ended. `code` is the HTTP status of the outcome: 200 when the webhook allowed. */
  called(labels: WebhookLabels, result: { readonly seconds: number; readonly rejected: boolean; readonly code: number }): void
  rejected(labels: WebhookLabels, result: { readonly cause: RejectionCause; readonly code: number }): void
  /** A call failed, and the failure policy is `Ignore`. */
  failedOpen(labels: WebhookLabels): void
  /** Match conditions were evaluated; without a match the webhook is not called. */
  conditionsEvaluated(
    labels: WebhookLabels,
    result: { readonly seconds: number; readonly outcome: 'match' | 'noMatch' | 'error' },
  ): void
}
