/** The flags from which authenticators are created. */
export interface AuthenticatorOptions extends AuthenticationOptions {
  readonly certDir?: string
  readonly dataDir: string
  /** Names of the members that the command line sets. */
  readonly explicit?: readonly string[]
}

/** The authentication flags. */
export interface AuthenticationOptions {
  readonly clientCaFile?: string
  readonly tokenAuthFile?: string
  readonly anonymousAuth?: boolean
  /** Path of an AuthenticationConfiguration; excludes the OpenID flags. */
  readonly authenticationConfig?: string
  readonly enableBootstrapTokenAuth: boolean
  /** The first issues tokens; all are accepted. */
  readonly serviceAccountIssuer: readonly string[]
  readonly serviceAccountSigningKeyFile?: string
  readonly serviceAccountKeyFile: readonly string[]
  readonly serviceAccountJwksUri?: string
  /** Milliseconds; 0: no limit. */
  readonly serviceAccountMaxTokenExpiration: number
  readonly serviceAccountExtendTokenExpiration: boolean
  readonly apiAudiences: readonly string[]
  readonly requestheaderClientCaFile?: string
  readonly requestheaderAllowedNames: readonly string[]
  readonly requestheaderUsernameHeaders: readonly string[]
  readonly requestheaderUidHeaders: readonly string[]
  readonly requestheaderGroupHeaders: readonly string[]
  readonly requestheaderExtraHeadersPrefix: readonly string[]
  readonly oidcIssuerUrl?: string
  readonly oidcClientId?: string
  readonly oidcUsernameClaim: string
  readonly oidcUsernamePrefix?: string
  readonly oidcGroupsClaim?: string
  readonly oidcGroupsPrefix?: string
  readonly oidcRequiredClaim: Readonly<Record<string, string>>
  readonly oidcSigningAlgs: readonly string[]
  readonly oidcCaFile?: string
  readonly authenticationTokenWebhookConfigFile?: string
  /** Milliseconds. */
  readonly authenticationTokenWebhookCacheTtl: number
  /** Milliseconds; default: `authenticationTokenWebhookCacheTtl`. */
  readonly authenticationTokenWebhookFailureCacheTtl?: number
  readonly authenticationTokenWebhookVersion: 'v1' | 'v1beta1'
}
