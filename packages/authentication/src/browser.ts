/**
 * Browser entry point of the package: everything that runs in every runtime. Client certificates need Node and are not
 * exported.
 */

export type { Fetch } from '@krmkit/base/fetch'
export { anonymousAuthenticator, createAnonymousAuthenticator } from './anonymous.ts'
export { withServerAudiences } from './audiences.ts'
export { AuthenticationError, type AuthenticationErrorCode } from './authentication-error.ts'
export { type BearerTokenOptions, createBearerTokenAuthenticator } from './bearer-token.ts'
export { type BootstrapTokenOptions, type BootstrapTokenSecret, createBootstrapTokenAuthenticator } from './bootstrap-tokens.ts'
export {
  type AuthenticatorChainOptions,
  createAuthenticatorChain,
  createTokenAuthenticatorChain,
  withAuthenticatedGroup,
} from './chain.ts'
export { defaultFrontProxyHeaders, type FrontProxyHeaders } from './identity-headers.ts'
export type {
  AuthenticationOutcome,
  AuthenticationRequest,
  Authenticator,
  TokenAuthenticator,
  TokenDigest,
  TokenRequestOptions,
} from './interfaces.ts'
export { isJwtShaped } from './jwt.ts'
export { createKeyedDigest, type KeyedDigest } from './keyed-digest.ts'
export type { OidcClaimOptions } from './oidc/claim-mapping.ts'
export { withConcurrencyLimit } from './oidc/concurrency-limit.ts'
export type { IssuerConnection, OidcAuthenticator } from './oidc/issuer-authenticator.ts'
export { createOidcAuthenticator, type OidcOptions } from './oidc/oidc-authenticator.ts'
export { createStaticTokenAuthenticator, parseStaticTokens, type StaticToken } from './static-tokens.ts'
export { createCachedTokenAuthenticator, type TokenCacheOptions } from './token-cache.ts'
export { createWebSocketTokenAuthenticator } from './web-socket-token.ts'
export { createWebhookTokenAuthenticator, type WebhookTokenOptions } from './webhook-tokens.ts'
