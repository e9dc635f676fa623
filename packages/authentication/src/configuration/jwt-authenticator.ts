import type { NamingProfile } from '@krmkit/meta'
import { signingAlgorithms } from '../jwt.ts'
import { createIssuerAuthenticator, type IssuerConnection, type OidcAuthenticator } from '../oidc/issuer-authenticator.ts'
import type { ClaimExpressionCompiler, JwtConfiguration } from './interfaces.ts'
import { createConfiguredMapping } from './mapping.ts'

/**
 * Knows the tokens of an issuer of a configuration that has been found right. Every asymmetric algorithm will do that a key of
 * the issuer is for.
 *
 * @throws AuthenticationError `InvalidConfiguration` for expressions that cannot be compiled.
 */
export function createJwtAuthenticator(
  jwt: JwtConfiguration,
  options: IssuerConnection & { readonly expressions: ClaimExpressionCompiler; readonly profile?: Pick<NamingProfile, 'domain'> },
): OidcAuthenticator {
  const { url, discoveryURL, audiences } = jwt.issuer
  const { claim } = jwt.claimMappings.groups
  return createIssuerAuthenticator({
    ...options,
    issuerUrl: url,
    ...(discoveryURL === '' ? {} : { discoveryUrl: discoveryURL }),
    audiences,
    algorithms: signingAlgorithms,
    mapping: createConfiguredMapping(jwt, options),
    distributedClaim: claim === '' ? undefined : claim,
  })
}
