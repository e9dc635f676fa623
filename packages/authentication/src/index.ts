export { anonymousAuthenticator, anonymousFor } from './anonymous.ts'
export { forAudiences } from './audiences.ts'
export { AuthenticationError, type AuthenticationErrorCode } from './authentication-error.ts'
export { type BearerOptions, bearerToken } from './bearer-token.ts'
export { type BootstrapTokenOptions, bootstrapTokens, type TokenSecret } from './bootstrap-tokens.ts'
export { type ChainOptions, chain, tokenChain, withAuthenticatedGroup } from './chain.ts'
export { boundedTokens } from './concurrency-limit.ts'
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
export { jwtTokens } from './configuration/jwt-authenticator.ts'
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
export { isTokenShaped } from './jwt.ts'
export { type KeyedDigest, keyedDigest } from './keyed-digest.ts'
export type { OidcClaimOptions } from './oidc/claim-mapping.ts'
export type { IssuerReach, OidcAuthenticator } from './oidc/issuer-authenticator.ts'
export { type OidcOptions, oidcTokens } from './oidc/oidc-authenticator.ts'
export { type ReplaceableTokens, replaceableTokens } from './replaceable-tokens.ts'
export { type BoundClaims, type LegacyClaims, legacyIssuer, type ObjectClaim } from './service-account/claims.ts'
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
} from './service-account/issuer.ts'
export type { LegacyTokenOptions } from './service-account/legacy-token.ts'
export { type IssuerDocuments, issuerDocuments } from './service-account/openid-metadata.ts'
export {
  type FoundObject,
  type ObjectLookup,
  type ServiceAccountTokenOptions,
  serviceAccountTokens,
} from './service-account/token-authenticator.ts'
export { parseStaticTokens, type StaticToken, staticTokens } from './static-tokens.ts'
export { cachedTokens, type TokenCacheOptions } from './token-cache.ts'
export { clockSkewSeconds } from './token-times.ts'
export { webSocketToken, withoutTokenProtocols } from './web-socket-token.ts'
export { type WebhookTokenOptions, webhookTokens } from './webhook-tokens.ts'
export { type ChainVerdict, parseAuthorities, verifyClientChain } from './x509/certificate-chain.ts'
export type { AuthoritySource } from './x509/certificate-verifier.ts'
export { type ClientCertificateOptions, clientCertificate, userOfCertificate } from './x509/client-certificate.ts'
