export { anonymousAuthenticator } from './anonymous.ts'
export { AuthenticationError, type AuthenticationErrorCode } from './authentication-error.ts'
export { bearerToken, tokenOf } from './bearer-token.ts'
export { type ChainVerdict, parseAuthorities, verifyClientChain } from './certificate-chain.ts'
export { type ChainOptions, chain, tokenChain, withAuthenticatedGroup } from './chain.ts'
export { type ClientCertificateOptions, clientCertificate, userOfCertificate } from './client-certificate.ts'
export type { AuthenticationOutcome, AuthenticationRequest, Authenticator, TokenAuthenticator } from './interfaces.ts'
export {
  type BoundObject,
  type IssuedToken,
  type ObjectLookup,
  type ServiceAccountIssuer,
  type ServiceAccountKeys,
  serviceAccountIssuer,
  serviceAccountTokens,
} from './service-account-tokens.ts'
export { parseStaticTokens, type StaticToken, staticTokens } from './static-tokens.ts'
