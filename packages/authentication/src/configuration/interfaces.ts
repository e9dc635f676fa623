/** The parsed file of `--authentication-config`. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtConfiguration[]
  /** Absent: the flag `--anonymous-auth` applies. */
  readonly anonymous?: AnonymousConfiguration
}

export interface AnonymousConfiguration {
  readonly enabled: boolean
  /** Paths that allow anonymous requests; empty: all. */
  readonly paths: readonly string[]
}

/** A JWT authenticator: an issuer, and the mapping of its claims to users. */
export interface JwtConfiguration {
  readonly issuer: {
    readonly url: string
    /** URL of the discovery document; empty to use the standard path below `url`. */
    readonly discoveryURL: string
    /** PEM bundle; empty: the system trust store. */
    readonly certificateAuthority: string
    /** Tokens must have at least one of these audiences. */
    readonly audiences: readonly string[]
    /** `MatchAny`; may be empty with a single audience. */
    readonly audienceMatchPolicy: string
  }
  readonly claimValidationRules: readonly ClaimRule[]
  readonly claimMappings: {
    readonly username: PrefixedSource
    readonly groups: PrefixedSource
    readonly uid: ClaimSource
    readonly extra: readonly { readonly key: string; readonly valueExpression: string }[]
  }
  readonly userValidationRules: readonly { readonly expression: string; readonly message: string }[]
}

/** A required value of a claim, or an expression that must be true. */
export interface ClaimRule {
  readonly claim: string
  readonly requiredValue: string
  readonly expression: string
  readonly message: string
}

/** A claim or an expression; unset when both are empty. */
export interface ClaimSource {
  readonly claim: string
  readonly expression: string
}

export interface PrefixedSource extends ClaimSource {
  /** Required with `claim`; may be empty. */
  readonly prefix?: string
}

/** Compiles expressions. The expression language is injected; `@krmkit/cel` provides CEL. */
export interface ClaimExpressionCompiler {
  /** Compiles an expression over the variable `claims`. A `condition` must be boolean, if its type is known. */
  claims(expression: string, kind: 'value' | 'condition'): ClaimExpression | { readonly problem: string }
  /** Compiles a condition over the variable `user`. */
  user(expression: string): ClaimExpression | { readonly problem: string }
}

/** The value of an expression, or its evaluation error. */
export type ClaimResult = { readonly value: unknown } | { readonly error: string }

export interface ClaimExpression {
  /** Evaluates in bounded time, pausing if needed. The value is JSON; undefined when JSON cannot represent it. */
  evaluate(subject: object): ClaimResult | Promise<ClaimResult>
  /** Whether the expression reads this member of its variable. */
  reads(member: string): boolean
}
