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
 * @example
 * ```ts
 * import { createJwtAuthenticator, parseAuthenticationConfiguration } from '@krmkit/authentication/configuration'
 * import { createFakeOidcProvider } from '@krmkit/authentication/testing'
 * import { systemClock as clock } from '@krmkit/meta'
 *
 * const { issuerUrl: url, clientId, fetch, token } = createFakeOidcProvider({ clock })
 * const jwt = [{ issuer: { url, audiences: [clientId] }, claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } } }]
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
 * const configuration = parseAuthenticationConfiguration({ ...type, jwt })
 * const problem = () => ({ problem: 'expressions are not supported' })
 * const expressions = { claims: problem, user: problem }
 * const tokens = createJwtAuthenticator(configuration.jwt[0]!, { fetch, clock, expressions })
 * await tokens.authenticateToken(token({ claims: { sub: 'jane' } })) // user: { username: 'oidc:jane', groups: [] }
 * ```
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
