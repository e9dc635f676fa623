/** Service account tokens: issuer, authenticator, discovery documents. Entry point `@krmkit/authentication/service-account`. */

export type { LegacyClaims } from './claims.ts'
export {
  type BoundObject,
  createServiceAccountIssuer,
  extendableTokenSeconds,
  type IssuedToken,
  type ServiceAccountIssuer,
  type ServiceAccountIssuerOptions,
  type ServiceAccountKeys,
  type TokenRequest,
} from './issuer.ts'
export type { LegacyTokenOptions } from './legacy-token.ts'
export type { FoundObject, ObjectLookup } from './object-lookup.ts'
export { createOpenIdMetadata, type OpenIdMetadata } from './openid-metadata.ts'
export { createServiceAccountTokenAuthenticator, type ServiceAccountTokenOptions } from './token-authenticator.ts'
