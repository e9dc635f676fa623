import { join } from 'node:path'
import type { EmbeddedServer } from '@krmkit/apiserver'
import {
  type Authenticator,
  createAnonymousAuthenticator,
  createAuthenticatorChain,
  createBearerTokenAuthenticator,
  createBootstrapTokenAuthenticator,
  createCachedTokenAuthenticator,
  createClientCertificateAuthenticator,
  createFrontProxyAuthenticator,
  createKeyedDigest,
  createStaticTokenAuthenticator,
  createTokenAuthenticatorChain,
  createWebSocketTokenAuthenticator,
  type FrontProxyHeaders,
  isJwtShaped,
  type KeyedDigest,
  parseStaticTokens,
  type StaticToken,
  type TokenAuthenticator,
  withAuthenticatedGroup,
  withServerAudiences,
} from '@krmkit/authentication'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { CliError, messageOf } from '../cli-error.ts'
import { readSecret, readText, writeSecret } from '../files.ts'
import { type ConfiguredAuthentication, createConfiguredAuthentication } from './authentication-configuration.ts'
import { type CertificateBundles, createCertificateBundles } from './certificate-bundles.ts'
import { publishClusterAuthenticationInfo } from './cluster-authentication-info.ts'
import { openOidcAuthenticator } from './oidc.ts'
import type { AuthenticatorOptions } from './options.ts'
import { createServiceAccounts, defaultIssuer, type ServiceAccounts } from './service-accounts.ts'
import { createTokenWebhook } from './token-webhook.ts'

/** The authentication of a server. */
export interface Authenticators extends AsyncDisposable {
  readonly authenticator: Authenticator
  readonly accounts: ServiceAccounts
  /** Undefined when the token file has no member of `system:masters`. */
  readonly adminToken: string | undefined
  /** Headers of authenticating proxies. */
  readonly proxyHeaders: FrontProxyHeaders | undefined
  /** PEM of the current client certificate authorities. */
  clientAuthorities(): string | undefined
  /** Registers the callback for changes of the client certificate authorities. */
  onClientAuthorities(change: (pem: string) => void): void
  /** Connects the server that stores service accounts and Secrets. Before that, tokens that depend on them are rejected. */
  attach(server: EmbeddedServer): void
}

export interface AuthenticatorsEnvironment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** PEM of the client certificate authority that the server generated for itself. */
  readonly ownAuthority?: string | undefined
  /** Called with failures of files, issuers and webhooks. */
  readonly onError: (error: unknown) => void
  /** Called after a file was reloaded. */
  readonly onReload?: (flag: string) => void
  /** Configured authorization modes. */
  readonly modes: readonly string[]
}

/**
 * Creates the authenticators that the flags configure, in the order of kube-apiserver: front proxy, client certificate, then tokens
 * (static, service account, bootstrap, OpenID, webhook), then anonymous.
 *
 * Without a token file there is one administrator, whose generated token is stored in the data folder, so that its kubeconfig stays valid
 * over restarts.
 *
 * @throws CliError for flags or files that cannot be used.
 */
export async function createAuthenticators(
  options: AuthenticatorOptions,
  environment: AuthenticatorsEnvironment,
): Promise<Authenticators> {
  const accounts = await createServiceAccounts(options, environment)
  const bundles = await createCertificateBundles(options, environment)
  const staticEntries =
    options.tokenAuthFile === undefined
      ? [await localAdministrator(join(options.dataDir, 'admin.token'), environment)]
      : await readTokens(options.tokenAuthFile)
  let server: EmbeddedServer | undefined
  const tokens = await createTokenAuthenticators(options, {
    ...environment,
    accounts,
    staticEntries,
    server: () => server,
  })
  const publish = () => {
    if (server !== undefined) void publishClusterAuthenticationInfo(server, { options, bundles }).catch(environment.onError)
  }
  return {
    authenticator: chainAuthenticators(options, { ...environment, ...tokens, bundles }),
    accounts,
    adminToken: staticEntries.find(({ user }) => user.groups.includes('system:masters'))?.token,
    proxyHeaders: bundles.proxyHeaders,
    clientAuthorities: () => bundles.all(),
    onClientAuthorities(change) {
      bundles.onChange((pem) => {
        change(pem)
        publish()
      })
    },
    attach(attached) {
      server = attached
      accounts.attach(attached)
      publish()
    },
    async [Symbol.asyncDispose]() {
      bundles[Symbol.dispose]()
      for (const each of tokens.disposables) await each[Symbol.asyncDispose]()
    },
  }
}

interface TokenContext extends AuthenticatorsEnvironment {
  readonly accounts: ServiceAccounts
  readonly staticEntries: readonly StaticToken[]
  readonly server: () => EmbeddedServer | undefined
}

interface TokenAuthenticators {
  readonly tokens: TokenAuthenticator
  /** HMAC of a token, computed once for all caches. */
  readonly digest: KeyedDigest
  /** Paths of anonymous requests; empty: all; undefined: none. */
  readonly anonymousPaths: readonly string[] | undefined
  readonly disposables: readonly AsyncDisposable[]
}

async function createTokenAuthenticators(options: AuthenticatorOptions, context: TokenContext): Promise<TokenAuthenticators> {
  const { random, clock, profile, accounts } = context
  const digest = createKeyedDigest(random)
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : issuersOf(options)
  refuseContradictions(options)
  requireGates(options, context.features)
  const openId = await openOidcAuthenticator(options, context)
  const configured =
    options.authenticationConfig === undefined
      ? undefined
      : await createConfiguredAuthentication(options.authenticationConfig, { ...context, ownIssuers: issuersOf(options) })
  if (configured?.anonymous !== undefined && !gateEnabled('AnonymousAuthConfigurableEndpoints', context.features)) {
    await configured[Symbol.asyncDispose]()
    const message = 'anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled'
    throw new CliError({ code: 'InvalidFlag', message: `--authentication-config: anonymous: Forbidden: ${message}` })
  }
  const anonymousPaths = anonymousPathsOf(options, { modes: context.modes, configured })
  const webhook = await createTokenWebhook(options, { ...context, audiences })
  const bootstrap = () =>
    createBootstrapTokenAuthenticator({ ...context, secret: (name) => bootstrapSecret(context.server(), name, profile) })
  const openIdCache = { clock, random, successMs: 10_000, failureMs: 0, accepts: isJwtShaped }
  const members: (TokenAuthenticator | undefined)[] = [
    withServerAudiences(createStaticTokenAuthenticator(context.staticEntries, { digest }), audiences),
    accounts.tokens,
    options.enableBootstrapTokenAuth ? withServerAudiences(bootstrap(), audiences) : undefined,
    openId && withServerAudiences(createCachedTokenAuthenticator(openId.tokens, openIdCache), audiences),
    configured && withServerAudiences(configured.tokens, audiences),
    webhook?.tokens,
  ]
  return {
    tokens: createTokenAuthenticatorChain(members.filter((member) => member !== undefined)),
    digest,
    anonymousPaths,
    disposables: [configured, openId, webhook].filter((each) => each !== undefined),
  }
}

function chainAuthenticators(
  options: AuthenticatorOptions,
  context: AuthenticatorsEnvironment & TokenAuthenticators & { readonly bundles: CertificateBundles },
): Authenticator {
  const { clock, profile, features, tokens, digest, anonymousPaths } = context
  const { clientCa, frontCa, proxyHeaders } = context.bundles
  const withUid = gateEnabled('AllowParsingUserUIDFromCertAuth', features)
  const authenticated = withAuthenticatedGroup(
    createAuthenticatorChain([
      ...(proxyHeaders === undefined || frontCa === undefined
        ? []
        : [
            createFrontProxyAuthenticator({
              ...proxyHeaders,
              authorities: frontCa,
              allowedNames: options.requestheaderAllowedNames,
              clock,
            }),
          ]),
      ...(clientCa === undefined
        ? []
        : [createClientCertificateAuthenticator({ authorities: clientCa, clock, profile, withUid })]),
      createBearerTokenAuthenticator(tokens, { digest }),
      createWebSocketTokenAuthenticator(tokens, { digest, profile }),
    ]),
  )
  if (anonymousPaths === undefined) return authenticated
  return createAuthenticatorChain([authenticated, createAnonymousAuthenticator(anonymousPaths)], { onRejection: 'stop' })
}

/**
 * The paths of anonymous requests: empty for all paths, undefined when anonymous requests are rejected. With mode AlwaysAllow they are
 * always rejected, whatever flags and files configure.
 */
function anonymousPathsOf(
  { anonymousAuth }: AuthenticatorOptions,
  where: { readonly modes: readonly string[]; readonly configured: ConfiguredAuthentication | undefined },
): readonly string[] | undefined {
  const fromFile = where.configured?.anonymous
  if (fromFile !== undefined && anonymousAuth !== undefined) {
    const message = '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const { enabled, paths } = fromFile ?? { enabled: anonymousAuth ?? true, paths: [] }
  return enabled && !where.modes.includes('AlwaysAllow') ? paths : undefined
}

/** Refuses flags of features that are off. @throws CliError with the text of kube-apiserver. */
function requireGates({ authenticationConfig, requestheaderUidHeaders }: AuthenticatorOptions, features: Features): void {
  const structured = 'StructuredAuthenticationConfiguration'
  const problem =
    authenticationConfig !== undefined && !gateEnabled(structured, features)
      ? `set --feature-gates=${structured}=true to use authentication-config file`
      : requestheaderUidHeaders.length > 0 && !gateEnabled('RemoteRequestHeaderUID', features)
        ? '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled'
        : undefined
  if (problem !== undefined) throw new CliError({ code: 'InvalidFlag', message: problem })
}

function refuseContradictions({ authenticationConfig, explicit = [] }: AuthenticatorOptions): void {
  if (authenticationConfig === undefined || !explicit.some((name) => name.startsWith('oidc'))) return
  const message = 'authentication-config file and oidc-* flags are mutually exclusive'
  throw new CliError({ code: 'InvalidFlag', message })
}

/** Issuers of service account tokens. */
function issuersOf({ serviceAccountIssuer }: AuthenticatorOptions): readonly string[] {
  return serviceAccountIssuer.length > 0 ? serviceAccountIssuer : [defaultIssuer]
}

function bootstrapSecret(server: EmbeddedServer | undefined, name: string, { systemNamespace }: NamingProfile) {
  return server?.registry.reader.get({ group: '', resource: 'secrets' }, systemNamespace, name)
}

/** Reads static tokens. @throws CliError `FileFailed` with the path of a file that cannot be parsed. */
async function readTokens(path: string): Promise<readonly StaticToken[]> {
  const text = await readText(path, 'token-auth-file')
  try {
    return parseStaticTokens(text)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new CliError({ code: 'FileFailed', message: `--token-auth-file: ${path}: ${reason}`, cause })
  }
}

async function localAdministrator(path: string, { random }: AuthenticatorsEnvironment): Promise<StaticToken> {
  const user = { username: 'kubernetes-admin', uid: 'kubernetes-admin', groups: ['system:masters'] }
  const stored = (await readSecret(path))?.trim()
  if (stored !== undefined) {
    if (/^[\w-]{20,}$/.test(stored)) return { token: stored, user }
    throw new CliError({ code: 'FileFailed', message: `${path} holds no token; delete the file to generate a new one` })
  }
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  await writeSecret(path, `${token}\n`)
  return { token, user }
}
