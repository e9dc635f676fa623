/** The file of `--authentication-config`. Entry point `@krmkit/authentication/configuration`. */

export { createReplaceableTokenAuthenticator, type ReplaceableTokenAuthenticator } from '../chain.ts'
export type {
  AnonymousConfiguration,
  AuthenticationConfiguration,
  ClaimExpression,
  ClaimExpressionCompiler,
  ClaimResult,
  ClaimRule,
  ClaimSource,
  JwtConfiguration,
  PrefixedSource,
} from './interfaces.ts'
export { createJwtAuthenticator } from './jwt-authenticator.ts'
export { parseAuthenticationConfiguration } from './parse.ts'
export { type AuthenticationValidationOptions, validateAuthenticationConfiguration } from './validate.ts'
