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

/** The label for a decision with this message. */
export function errorTypeOf(message: string): PolicyCheckLabels['errorType'] {
  if (message.startsWith('compilation')) return 'compile_error'
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error'
}
