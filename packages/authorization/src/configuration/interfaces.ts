/** What the file of `--authorization-config` says: authorizers in the order in which they are asked. */
export interface AuthorizationConfiguration {
  readonly authorizers: readonly AuthorizerConfiguration[]
}

export interface AuthorizerConfiguration {
  /** `RBAC`, `Node`, `Webhook`, ... */
  readonly type: string
  readonly name: string
  /** Of type `Webhook` alone. */
  readonly webhook?: AuthorizationWebhook
}

export interface AuthorizationWebhook {
  /** How long rights are remembered, in milliseconds. */
  readonly authorizedMs: number
  readonly unauthorizedMs: number
  /** Longest wait for one answer, in milliseconds. */
  readonly timeoutMs: number
  /** `v1` or `v1beta1`. */
  readonly subjectAccessReviewVersion: string
  /** Version of the reviews that conditions see: `v1`, or empty where there are none. */
  readonly matchConditionSubjectAccessReviewVersion: string
  /** What counts when it cannot be asked: `Deny` or `NoOpinion`. */
  readonly failurePolicy: string
  readonly connection: WebhookConnection
  /** Expressions that must all be true for the webhook to be asked. */
  readonly matchConditions: readonly string[]
}

export interface WebhookConnection {
  /** `KubeConfigFile` or `InClusterConfig`. */
  readonly type: string
  readonly kubeConfigFile?: string
}

/** Makes conditions out of expressions. Whoever composes a server brings the language. */
export interface MatchConditionCompiler {
  /** @returns the condition, or what is wrong with the expression. */
  compile(expression: string): MatchCondition | { readonly problem: string }
}

/** A condition on the spec of a SubjectAccessReview. */
export interface MatchCondition {
  /** May be called any number of times; takes bounded time. */
  evaluate(review: SubjectAccessReviewSpec): boolean | { readonly error: string }
}

/** The spec of a SubjectAccessReview of version v1, with every member that is a text, even when it is empty. */
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
