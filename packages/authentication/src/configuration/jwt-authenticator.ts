import type { NamingProfile } from '@krmkit/meta'
import { signingAlgorithms } from '../jwt.ts'
import { createIssuerAuthenticator, type IssuerConnection, type OidcAuthenticator } from '../oidc/issuer-authenticator.ts'
import type { ClaimExpressionCompiler, JwtConfiguration } from './interfaces.ts'
import { createConfiguredMapping } from './mapping.ts'

/**
 * Creates the authenticator of one `jwt` entry of a validated configuration. It accepts every asymmetric algorithm that the issuer has a
 * key for.
 *
 * @throws AuthenticationError `InvalidConfiguration` for expressions that do not compile.
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
