export interface PhaseLabels {
  readonly type: 'admit' | 'validate'
  /** `CREATE`, `UPDATE`, `DELETE` or `CONNECT`. */
  readonly operation: string
}

export interface PluginLabels extends PhaseLabels {
  /** The name of the plugin. */
  readonly name: string
}

export interface AdmissionOutcome {
  readonly seconds: number
  readonly rejected: boolean
}

/** Records the work of the admission chain. @see API protocol specification, 6 */
export interface AdmissionMetrics {
  /** A plugin has run for a request that it handles. */
  pluginCompleted(labels: PluginLabels, outcome: AdmissionOutcome): void
  /** All plugins of a phase have run, or one has rejected the request. */
  phaseCompleted(labels: PhaseLabels, outcome: AdmissionOutcome): void
  readonly webhooks: WebhookMetrics
  readonly podSecurity: PodSecurityMetrics
  readonly policies: PolicyMetrics
}

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

export interface PodSecurityLabels {
  readonly operation: 'create' | 'update'
  readonly resource: 'pod' | 'controller'
  readonly subresource: string
}

export interface PodSecurityEvaluation extends PodSecurityLabels {
  readonly decision: 'allow' | 'deny'
  readonly mode: 'enforce' | 'audit' | 'warn'
  readonly level: 'privileged' | 'baseline' | 'restricted'
  /** `latest`, `v1.24`, or `future` for releases after that of the server. */
  readonly version: string
}

/** Records the evaluations of plugin PodSecurity. */
export interface PodSecurityMetrics {
  evaluated(evaluation: PodSecurityEvaluation): void
  /** The namespace, the user or the runtime class is exempt. */
  exempted(labels: PodSecurityLabels): void
  /** The policy of the namespace is invalid, or nothing could be evaluated (`fatal`). */
  failed(labels: PodSecurityLabels, fatal: boolean): void
}

/** Metric labels of one decision of a policy. */
export interface PolicyCheckLabels {
  readonly policy: string
  readonly binding: string
  /** The cause of the decision; `invalid_error` also for validations that are false. */
  readonly errorType: 'compile_error' | 'invalid_error' | 'out_of_budget'
  /** What followed from it; `allow`: a failure that the failure policy ignores. */
  readonly action: 'allow' | 'deny' | 'audit' | 'warn'
}

/** Metric labels of the match conditions of a policy. */
export interface PolicyConditionLabels {
  /** The name of the policy. */
  readonly name: string
  readonly operation: string
}

/** Records the decisions of validating policies, and the match conditions of all policies. */
export interface PolicyMetrics {
  /** A validation has denied or failed. Validations that hold are not counted, as on kube-apiserver. */
  checked(labels: PolicyCheckLabels, seconds: number): void
  /** Match conditions were evaluated; without a match the policy is not. */
  conditionsEvaluated(
    labels: PolicyConditionLabels,
    result: { readonly seconds: number; readonly outcome: 'match' | 'noMatch' | 'error' },
  ): void
}
