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
  parseStaticTokens,
  type StaticToken,
  type TokenAuthenticator,
  withAuthenticatedGroup,
  withServerAudiences,
} from '@krmkit/authentication'
import type { Clock, Features, NamingProfile, Random } from '@krmkit/meta'
import { CliError } from '../cli-error.ts'
import { readSecret, readText, writeSecret } from '../files.ts'
import type { ServeOptions } from '../serve-options.ts'
import { certificateBundles } from './certificate-bundles.ts'
import { type ConfiguredAuthentication, configuredAuthentication } from './configured.ts'
import { oidcOf } from './oidc.ts'
import { defaultIssuer, type ServiceAccounts, serviceAccounts } from './service-accounts.ts'
import { webhookOf } from './token-webhook.ts'
import { publishTrust } from './trust-config-map.ts'

/** Who may call, and the token that an administrator is given. */
export interface Authenticators extends AsyncDisposable {
  readonly authenticator: Authenticator
  readonly accounts: ServiceAccounts
  /** Absent when a token file names no member of `system:masters`. */
  readonly adminToken: string | undefined
  /** Headers of the proxies in front. */
  readonly proxyHeaders: FrontProxyHeaders | undefined
  /** PEM of every authority of client certificates, as it is now. */
  clientAuthorities(): string | undefined
  /** Calls back whenever it changes. */
  onClientAuthorities(change: (pem: string) => void): void
  /** Objects that tokens depend on are looked up there. Until then such tokens let nobody in. */
  attach(server: EmbeddedServer): void
}

export interface Environment {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** PEM of an authority of client certificates that the server keeps itself. */
  readonly ownAuthority?: string | undefined
  /** Told what went wrong outside: files, issuers, webhooks. */
  readonly onError: (error: unknown) => void
  /** Told that a file has come into force. */
  readonly onReload?: (flag: string) => void
  /** Authorizers that decide what callers may do. */
  readonly modes?: readonly string[]
}

/**
 * The authenticators that the flags ask for, in the order of the stock server: proxy, certificate, then tokens: static,
 * service account, bootstrap, OpenID, webhook; and anonymous for callers without credentials.
 *
 * Without a token file one administrator is made, whose token is kept in the data folder, so that a kubeconfig stays good
 * over restarts.
 */
export async function authenticators(options: ServeOptions, environment: Environment): Promise<Authenticators> {
  const { random, clock, profile, features } = environment
  const accounts = await serviceAccounts(options, environment)
  const bundles = await certificateBundles(options, environment)
  // One HMAC of each token serves all who look it up.
  const digest = createKeyedDigest(random)
  const owned: (AsyncDisposable | Disposable)[] = [bundles]
  const tokens =
    options.tokenAuthFile === undefined
      ? [await ownAdministrator(join(options.dataDir, 'admin.token'), environment)]
      : await readTokens(options.tokenAuthFile)
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : issuersOf(options)
  refuseContradictions(options)
  const openId = await oidcOf(options, environment)
  const configured =
    options.authenticationConfig === undefined
      ? undefined
      : await configuredAuthentication(options.authenticationConfig, { ...environment, ownIssuers: issuersOf(options) })
  if (configured !== undefined) owned.push(configured)
  const anonymous = anonymousOf(options, { modes: environment.modes ?? options.authorizationMode, configured })
  const webhook = await webhookOf(options, { ...environment, audiences })
  for (const one of [openId, webhook]) if (one !== undefined) owned.push(one)
  let server: EmbeddedServer | undefined
  const members: (TokenAuthenticator | undefined)[] = [
    withServerAudiences(createStaticTokenAuthenticator(tokens, { digest }), audiences),
    accounts.tokens,
    options.enableBootstrapTokenAuth
      ? withServerAudiences(
          createBootstrapTokenAuthenticator({ ...environment, secret: (name) => bootstrapSecret(server, name, profile) }),
          audiences,
        )
      : undefined,
    openId &&
      withServerAudiences(
        createCachedTokenAuthenticator(openId.tokens, { clock, random, successMs: 10_000, failureMs: 0, accepts: isJwtShaped }),
        audiences,
      ),
    configured && withServerAudiences(configured.tokens, audiences),
    webhook?.tokens,
  ]
  const bearers = createTokenAuthenticatorChain(members.filter((member) => member !== undefined))
  const { clientCa, frontCa } = bundles
  const people = createAuthenticatorChain([
    ...(bundles.proxyHeaders === undefined || frontCa === undefined
      ? []
      : [
          createFrontProxyAuthenticator({
            ...bundles.proxyHeaders,
            authorities: frontCa,
            allowedNames: options.requestheaderAllowedNames,
            clock,
          }),
        ]),
    ...(clientCa === undefined
      ? []
      : [
          createClientCertificateAuthenticator({
            authorities: clientCa,
            clock,
            profile,
            withUid: features.release.atLeast('1.33') && options.featureGates.AllowParsingUserUIDFromCertAuth !== false,
          }),
        ]),
    createBearerTokenAuthenticator(bearers, { digest }),
    createWebSocketTokenAuthenticator(bearers, { digest, profile }),
  ])
  const known = withAuthenticatedGroup(people)
  const publish = () => {
    if (server !== undefined) void publishTrust(server, { options, bundles }).catch(environment.onError)
  }
  return {
    authenticator:
      anonymous === undefined
        ? known
        : createAuthenticatorChain([known, createAnonymousAuthenticator(anonymous)], { onRejection: 'stop' }),
    accounts,
    adminToken: tokens.find(({ user }) => user.groups.includes('system:masters'))?.token,
    proxyHeaders: bundles.proxyHeaders,
    clientAuthorities: () => bundles.all(),
    onClientAuthorities(change) {
      bundles.onChange((pem) => {
        change(pem)
        publish()
      })
    },
    attach(made) {
      server = made
      accounts.attach(made)
      publish()
    },
    async [Symbol.asyncDispose]() {
      for (const one of owned) {
        if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]()
        else one[Symbol.dispose]()
      }
    },
  }
}

/**
 * The paths for which callers without credentials are let in, none of them for all; undefined when they are not. Where
 * everybody may do everything, those who say nothing of themselves stay out, whatever flags and files say.
 */
function anonymousOf(
  { anonymousAuth }: ServeOptions,
  where: { readonly modes: readonly string[]; readonly configured: ConfiguredAuthentication | undefined },
): readonly string[] | undefined {
  const said = where.configured?.anonymous
  if (said !== undefined && anonymousAuth !== undefined) {
    const message = '--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file'
    throw new CliError({ code: 'InvalidFlag', message })
  }
  const { enabled, paths } = said ?? { enabled: anonymousAuth ?? true, paths: [] }
  return enabled && !where.modes.includes('AlwaysAllow') ? paths : undefined
}

function refuseContradictions({ authenticationConfig, explicit = [] }: ServeOptions): void {
  if (authenticationConfig === undefined || !explicit.some((name) => name.startsWith('oidc'))) return
  const message = 'authentication-config file and oidc-* flags are mutually exclusive'
  throw new CliError({ code: 'InvalidFlag', message })
}

function issuersOf({ serviceAccountIssuer }: ServeOptions): readonly string[] {
  return serviceAccountIssuer.length > 0 ? serviceAccountIssuer : [defaultIssuer]
}

function bootstrapSecret(server: EmbeddedServer | undefined, name: string, { systemNamespace }: NamingProfile) {
  return server?.registry.reader.get({ group: '', resource: 'secrets' }, systemNamespace, name)
}

/** Static tokens; the message of a file that holds none names it. */
async function readTokens(path: string): Promise<readonly StaticToken[]> {
  const text = await readText(path, 'token-auth-file')
  try {
    return parseStaticTokens(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CliError({ code: 'FileFailed', message: `--token-auth-file: ${path}: ${reason}`, cause })
  }
}

async function ownAdministrator(path: string, { random }: Environment): Promise<StaticToken> {
  const user = { username: 'kubernetes-admin', uid: 'kubernetes-admin', groups: ['system:masters'] }
  const kept = (await readSecret(path))?.trim()
  if (kept !== undefined) {
    if (/^[\w-]{20,}$/.test(kept)) return { token: kept, user }
    throw new CliError({ code: 'FileFailed', message: `${path} holds no token; a new one is made when the file is missing` })
  }
  const token = Buffer.from(random.bytes(32)).toString('base64url')
  await writeSecret(path, `${token}\n`)
  return { token, user }
}
