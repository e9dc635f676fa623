import type { KeyObject } from 'node:crypto'
import {
  type Authenticator,
  anonymousAuthenticator,
  type BootstrapTokenSecret,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createBootstrapTokenAuthenticator,
  createCachedTokenAuthenticator,
  createClientCertificateAuthenticator,
  createFrontProxyAuthenticator,
  createKeyedDigest,
  createOidcAuthenticator,
  createStaticTokenAuthenticator,
  createTokenAuthenticatorChain,
  createWebhookTokenAuthenticator,
  defaultFrontProxyHeaders,
  isJwtShaped,
  type StaticToken,
  withAuthenticatedGroup,
  withServerAudiences,
} from '@krmkit/authentication'
import {
  createServiceAccountIssuer,
  createServiceAccountTokenAuthenticator,
  type ServiceAccountIssuer,
  type ServiceAccountKeys,
} from '@krmkit/authentication/service-account'
import {
  type CertificateAuthority,
  createCertificateAuthority,
  createFakeFrontProxy,
  createFakeOidcProvider,
  createFakeTokenWebhook,
  type FakeFrontProxy,
  type FakeOidcProvider,
  type FakeTokenWebhook,
} from '@krmkit/authentication/testing'
import type { ApiObject, Clock, DeepReadonly, NamingProfile, Random } from '@krmkit/meta'

/** All authenticators, in the order of `krmkit serve`, over fakes of what they ask. */
export interface AllAuthenticators {
  readonly authenticator: Authenticator
  readonly oidc: FakeOidcProvider
  readonly webhook: FakeTokenWebhook
  readonly front: FakeFrontProxy
  /** The authority of client certificates. */
  readonly people: CertificateAuthority
  readonly issuer: ServiceAccountIssuer
}

export interface AllAuthenticatorsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  /** Signs service account tokens. */
  readonly signingKey: KeyObject
  readonly staticTokens: readonly StaticToken[]
  /** Reads a core object of the server. */
  readonly object: (resource: string, namespace: string, name: string) => DeepReadonly<ApiObject> | undefined
  /** Options of the OpenID Connect authenticator besides provider and client. */
  readonly oidcOptions?: Partial<Parameters<typeof createOidcAuthenticator>[0]>
  readonly webhookOptions?: Partial<Parameters<typeof createWebhookTokenAuthenticator>[0]>
}

const plurals = { ServiceAccount: 'serviceaccounts', Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

/** The issuer of service account tokens, and the audience of the server. */
export const serverAudience = 'https://kubernetes.default.svc'

export function allAuthenticators(options: AllAuthenticatorsOptions): AllAuthenticators {
  const { clock, random, profile, object } = options
  const environment = { clock, random, profile }
  const oidc = createFakeOidcProvider({ clock })
  const webhook = createFakeTokenWebhook({ clock })
  const front = createFakeFrontProxy(environment)
  const people = createCertificateAuthority({ name: 'people', ...environment })
  const keys: ServiceAccountKeys = { ...environment, issuer: serverAudience, signingKey: options.signingKey }
  const accounts = createServiceAccountTokenAuthenticator(keys, (kind, namespace, name) => {
    const found = object(plurals[kind], namespace, name)
    if (found === undefined) return undefined
    const { uid = '', deletionTimestamp = null } = found.metadata
    return { uid, deletionTimestamp, ...('data' in found ? { data: found.data as Record<string, string> } : {}) }
  })
  const openId = createOidcAuthenticator({
    issuerUrl: oidc.issuerUrl,
    clientId: oidc.clientId,
    fetch: oidc.fetch,
    clock,
    ...options.oidcOptions,
  })
  const reviews = createWebhookTokenAuthenticator({
    ...environment,
    url: webhook.url,
    fetch: webhook.fetch,
    ...options.webhookOptions,
  })
  const bootstrap = createBootstrapTokenAuthenticator({
    ...environment,
    secret: (name) => object('secrets', 'kube-system', name) as BootstrapTokenSecret | undefined,
  })
  const digest = createKeyedDigest(random)
  const audiences = [serverAudience]
  const tokens = createTokenAuthenticatorChain([
    withServerAudiences(createStaticTokenAuthenticator(options.staticTokens, { digest }), audiences),
    accounts,
    withServerAudiences(bootstrap, audiences),
    withServerAudiences(
      createCachedTokenAuthenticator(openId, { clock, random, successMs: 10_000, failureMs: 0, accepts: isJwtShaped }),
      audiences,
    ),
    createCachedTokenAuthenticator(reviews, { clock, random }),
  ])
  const known = withAuthenticatedGroup(
    createAuthenticatorChain([
      createFrontProxyAuthenticator({
        ...defaultFrontProxyHeaders,
        authorities: front.authority.certificate,
        allowedNames: ['front-proxy'],
        clock,
      }),
      createClientCertificateAuthenticator({ authorities: people.certificate, clock, profile }),
      createBearerTokenAuthenticator(tokens, { digest }),
    ]),
  )
  const authenticator = createAuthenticatorChain([known, anonymousAuthenticator], { onRejection: 'stop' })
  return { authenticator, oidc, webhook, front, people, issuer: createServiceAccountIssuer(keys) }
}
