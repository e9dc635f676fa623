/** The parsed file of `--authorization-config`: authorizers in order of evaluation. */
export interface AuthorizationConfiguration {
  readonly authorizers: readonly AuthorizerConfiguration[]
}

export interface AuthorizerConfiguration {
  /** `RBAC`, `Node`, `Webhook`, ... */
  readonly type: string
  readonly name: string
  /** Only for type `Webhook`. */
  readonly webhook?: AuthorizationWebhook
}

export interface AuthorizationWebhook {
  /** Cache lifetime of `allow`, in milliseconds. */
  readonly authorizedMs: number
  /** Cache lifetime of other decisions, in milliseconds. */
  readonly unauthorizedMs: number
  /** Deadline for each attempt, in milliseconds. */
  readonly timeoutMs: number
  /** `v1` or `v1beta1`. */
  readonly subjectAccessReviewVersion: string
  /** SubjectAccessReview version to which match conditions apply: `v1`, or empty without conditions. */
  readonly matchConditionSubjectAccessReviewVersion: string
  /** Decision when a review fails: `Deny` or `NoOpinion`. */
  readonly failurePolicy: string
  readonly connection: WebhookConnection
  /** Expressions that must all be true for the webhook to be called. */
  readonly matchConditions: readonly string[]
}

export interface WebhookConnection {
  /** `KubeConfigFile` or `InClusterConfig`. */
  readonly type: string
  readonly kubeConfigFile?: string
}

/** Compiles match conditions. The expression language is injected; `@krmkit/cel` provides CEL. */
export interface MatchConditionCompiler {
  /** @returns the condition, or the compile error. */
  compile(expression: string): CompiledMatchCondition | { readonly problem: string }
}

/** Whether a condition is met, or its evaluation error. */
export type ConditionResult = boolean | { readonly error: string }

/** A compiled condition on the spec of a SubjectAccessReview. */
export interface CompiledMatchCondition {
  /** Evaluates in bounded time, pausing if needed; may be called repeatedly. */
  evaluate(review: SubjectAccessReviewSpec): ConditionResult | Promise<ConditionResult>
}

/** The spec of a v1 SubjectAccessReview. String members are present even when empty. */
export interface SubjectAccessReviewSpec {
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: {
    readonly namespace: string
    readonly verb: string
    readonly group: string
    readonly version: string
    readonly resource: string
    readonly subresource: string
    readonly name: string
    readonly fieldSelector?: { readonly requirements: readonly SelectorRequirement[] }
    readonly labelSelector?: { readonly requirements: readonly SelectorRequirement[] }
  }
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
}

export interface SelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values: readonly string[]
}
