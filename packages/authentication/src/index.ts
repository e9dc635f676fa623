export { anonymousAuthenticator, anonymousFor } from './anonymous.ts'
export { forAudiences } from './audiences.ts'
export { AuthenticationError, type AuthenticationErrorCode } from './authentication-error.ts'
export { type BearerOptions, bearerToken } from './bearer-token.ts'
export { type BootstrapTokenOptions, bootstrapTokens, type TokenSecret } from './bootstrap-tokens.ts'
export { boundedTokens } from './bounded-authenticator.ts'
export { type ChainVerdict, parseAuthorities, verifyClientChain } from './certificate-chain.ts'
export { type ChainOptions, chain, tokenChain, withAuthenticatedGroup } from './chain.ts'
export type { AuthoritySource } from './chain-judge.ts'
export { type ClientCertificateOptions, clientCertificate, userOfCertificate } from './client-certificate.ts'
export type {
  AnonymousConfiguration,
  AuthenticationConfiguration,
  ClaimExpression,
  ClaimExpressionCompiler,
  ClaimRule,
  ClaimSource,
  JwtConfiguration,
  PrefixedSource,
} from './configuration/interfaces.ts'
export { jwtTokens } from './configuration/jwt-tokens.ts'
export { parseAuthenticationConfiguration } from './configuration/parse.ts'
export { type AuthenticationRules, validateAuthenticationConfiguration } from './configuration/validate.ts'
export type { Fetch, FetchedResponse, FetchInit } from './fetch.ts'
export { type FrontProxyOptions, frontProxy } from './front-proxy.ts'
export {
  decodedKey,
  type FrontProxyHeaders,
  type IdentityHeaders,
  type IdentityProblem,
  identityHeaders,
  impersonationHeaders,
  isRepresentable,
  singleValue,
  usualProxyHeaders,
  valuesOf,
} from './identity-headers.ts'
export type {
  AuthenticationOutcome,
  AuthenticationRequest,
  Authenticator,
  TokenAuthenticator,
  TokenDigest,
  TokenOptions,
} from './interfaces.ts'
export type { IssuerReach, OidcAuthenticator } from './issuer-tokens.ts'
export { isTokenShaped } from './jwt.ts'
export { type KeyedDigest, keyedDigest } from './keyed-digest.ts'
export { type OidcOptions, oidcTokens } from './oidc.ts'
export type { OidcClaimOptions } from './oidc-claims.ts'
export { type ReplaceableTokens, replaceableTokens } from './replaceable-tokens.ts'
export { type BoundClaims, type LegacyClaims, legacyIssuer, type ObjectClaim } from './service-account-claims.ts'
export { type IssuerDocuments, issuerDocuments } from './service-account-discovery.ts'
export {
  audiencesOf,
  type BoundObject,
  extendableTokenSeconds,
  type IssuedToken,
  type IssuingRules,
  type ServiceAccountIssuer,
  type ServiceAccountKeys,
  serviceAccountIssuer,
  type TokenRequest,
} from './service-account-issuer.ts'
export type { LegacyTokenOptions } from './service-account-legacy.ts'
export {
  type FoundObject,
  type ObjectLookup,
  type ServiceAccountTokenOptions,
  serviceAccountTokens,
} from './service-account-tokens.ts'
export { parseStaticTokens, type StaticToken, staticTokens } from './static-tokens.ts'
export { cachedTokens, type TokenCacheOptions } from './token-cache.ts'
export { clockSkewSeconds } from './token-times.ts'
export { webSocketToken, withoutTokenProtocols } from './web-socket-token.ts'
export { type WebhookTokenOptions, webhookTokens } from './webhook-tokens.ts'
