/** What the file of `--authentication-config` says. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtConfiguration[]
  /** Absent: flags decide about callers without credentials. */
  readonly anonymous?: AnonymousConfiguration
}

export interface AnonymousConfiguration {
  readonly enabled: boolean
  /** Paths for which callers without credentials are let in; empty: all. */
  readonly paths: readonly string[]
}

/** An issuer, and how its tokens become users. */
export interface JwtConfiguration {
  readonly issuer: {
    readonly url: string
    /** Where it is discovered, when that is not below `url`; empty: there. */
    readonly discoveryURL: string
    /** PEM; empty: the authorities of the platform are trusted. */
    readonly certificateAuthority: string
    /** Tokens must be for one of them. */
    readonly audiences: readonly string[]
    /** `MatchAny`, or empty where there is but one audience. */
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

/** A claim that must have a value, or an expression that must be true. */
export interface ClaimRule {
  readonly claim: string
  readonly requiredValue: string
  readonly expression: string
  readonly message: string
}

/** A claim or an expression; both empty: nothing. */
export interface ClaimSource {
  readonly claim: string
  readonly expression: string
}

export interface PrefixedSource extends ClaimSource {
  /** Needed with a claim, even when it is empty. */
  readonly prefix?: string
}

/** Makes expressions that can be evaluated. Whoever composes a server brings the language. */
export interface ClaimExpressionCompiler {
  /** Over the variable `claims`. A `condition` must come to true or false as far as that can be known beforehand. */
  claims(expression: string, kind: 'value' | 'condition'): ClaimExpression | { readonly problem: string }
  /** A condition over the variable `user`. */
  user(expression: string): ClaimExpression | { readonly problem: string }
}

export interface ClaimExpression {
  /** The value as JSON; undefined for what JSON has no form of. Takes bounded time. */
  evaluate(subject: object): { readonly value: unknown } | { readonly error: string }
  /** Whether it looks at a member of its variable by this name. */
  reads(member: string): boolean
}
