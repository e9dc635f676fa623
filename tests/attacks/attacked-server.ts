import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import {
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
  withAuthenticatedGroup,
  withServerAudiences,
} from '@krmkit/authentication'
import {
  createServiceAccountIssuer,
  createServiceAccountTokenAuthenticator,
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
import { systemMasters } from '@krmkit/authorization'
import { builtInTypes } from '@krmkit/kinds'
import { type FakeClock, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { type Answer, requestOf, type SendOptions, send } from '../protocol/server.ts'

/** A server with all authenticators, in the order of `krmkit serve`, and objects that attackers want. */
export interface AttackedServer extends AsyncDisposable {
  readonly server: EmbeddedServer
  readonly clock: FakeClock
  readonly oidc: FakeOidcProvider
  readonly webhook: FakeTokenWebhook
  readonly front: FakeFrontProxy
  /** The authority of client certificates. */
  readonly people: CertificateAuthority
  readonly signingKey: KeyObject
  readonly issuer: string
  /** Everything that is written to the log or the audit log. */
  readonly log: unknown[]
  /** Returns the authenticated user of the given headers. */
  who(sent: Sent): Promise<Who>
  /** Sends a request as the administrator. */
  ask(method: string, path: string, body?: object): Promise<Answer>
  /** A service account token issued by the server. */
  tokenOf(account: string, spec?: object): Promise<string>
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly token?: string
  readonly certificates?: readonly Uint8Array[]
}

export interface Who {
  readonly status: number
  readonly username: string | undefined
  readonly groups: readonly string[]
  readonly text: string
}

export const staticToken = 'static-token-of-the-administrator-0123456789'
export const bootstrapToken = 'abcdef.0123456789abcdef'
export const cooldownMs = 1_000

const types = builtInTypes()
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const plurals = { ServiceAccount: 'serviceaccounts', Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

export async function startAttackedServer(): Promise<AttackedServer> {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const random = seededRandom(11)
  const environment = { clock, random, profile: stockProfile }
  const oidc = createFakeOidcProvider({ clock })
  const webhook = createFakeTokenWebhook({ clock })
  const front = createFakeFrontProxy(environment)
  const people = createCertificateAuthority({ name: 'people', ...environment })
  const signingKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const issuer = 'https://kubernetes.default.svc'
  const keys: ServiceAccountKeys = { ...environment, issuer, signingKey }
  const log: unknown[] = []
  const onError = (error: unknown) => void log.push(error)
  let server: EmbeddedServer | undefined
  const reader = (resource: string, namespace: string, name: string) =>
    server?.registry.reader.get({ group: '', resource }, namespace, name)
  const accounts = createServiceAccountTokenAuthenticator(keys, (kind, namespace, name) => {
    const found = reader(plurals[kind], namespace, name)
    if (found === undefined) return undefined
    const { uid = '', deletionTimestamp = null } = found.metadata
    return { uid, deletionTimestamp, ...('data' in found ? { data: found.data as Record<string, string> } : {}) }
  })
  const openId = createOidcAuthenticator({
    issuerUrl: oidc.issuerUrl,
    clientId: oidc.clientId,
    fetch: oidc.fetch,
    clock,
    cooldownMs,
    onError,
    groupsClaim: 'groups',
  })
  const reviewer = createWebhookTokenAuthenticator({
    ...environment,
    url: webhook.url,
    fetch: webhook.fetch,
    audiences: [issuer],
    onError,
    backoffMs: [],
  })
  const own = [issuer]
  const administrator = { username: 'admin', groups: ['system:masters'] }
  const digest = createKeyedDigest(random)
  const tokens = createTokenAuthenticatorChain([
    withServerAudiences(createStaticTokenAuthenticator([{ token: staticToken, user: administrator }], { digest }), own),
    accounts,
    withServerAudiences(
      createBootstrapTokenAuthenticator({
        ...environment,
        secret: (name) => reader('secrets', 'kube-system', name) as BootstrapTokenSecret | undefined,
      }),
      own,
    ),
    withServerAudiences(
      createCachedTokenAuthenticator(openId, { clock, random, successMs: 10_000, failureMs: 0, accepts: isJwtShaped }),
      own,
    ),
    createCachedTokenAuthenticator(reviewer, { clock, random }),
  ])
  const known = withAuthenticatedGroup(
    createAuthenticatorChain([
      createFrontProxyAuthenticator({
        ...defaultFrontProxyHeaders,
        authorities: front.authority.certificate,
        allowedNames: ['front-proxy'],
        clock,
      }),
      createClientCertificateAuthenticator({ authorities: people.certificate, clock, profile: stockProfile }),
      createBearerTokenAuthenticator(tokens, { digest }),
    ]),
  )
  server = await createApiServer({
    ...environment,
    types,
    storage: memoryStorage({ clock }),
    authenticator: createAuthenticatorChain([known, anonymousAuthenticator], { onRejection: 'stop' }),
    // All users may review themselves: the response shows the result of authentication.
    authorizer: systemMasters,
    serviceAccountIssuer: createServiceAccountIssuer(keys),
    audit: (event: unknown) => void log.push(event),
    onError,
  })
  const made = server
  const ask: AttackedServer['ask'] = (method, target, body) => {
    const [path = '', query = ''] = target.split('?')
    return send(made.handle, method, path, { query, ...(body === undefined ? {} : { body }) })
  }
  return {
    server: made,
    clock,
    oidc,
    webhook,
    front,
    people,
    signingKey,
    issuer,
    log,
    ask,
    async who({ headers = {}, token, certificates }) {
      const options: SendOptions = { body: review }
      const sent = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
      const request = requestOf('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', options)
      const { user: _, ...without } = request
      const answer = await withTime(
        clock,
        send(
          () => made.handle({ ...without, headers: sent, peer: certificates === undefined ? {} : { certificates } }),
          'POST',
          '/',
        ),
      )
      const { userInfo } = (answer.json?.status ?? {}) as { userInfo?: { username: string; groups: string[] } }
      return { status: answer.status, username: userInfo?.username, groups: userInfo?.groups ?? [], text: answer.text }
    },
    async tokenOf(account, spec = {}) {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
      const answer = await ask('POST', `/api/v1/namespaces/default/serviceaccounts/${account}/token`, body)
      return (answer.json.status as { token: string }).token
    },
    [Symbol.asyncDispose]: () => made.close(),
  }
}

/** How long to wait for a response before advancing the fake clock, in real milliseconds. */
const patienceMs = 25

/** A token with an unknown key waits until the issuer's keys may be fetched again; advances the clock. */
async function withTime<T>(clock: FakeClock, answer: Promise<T>): Promise<T> {
  let settled = false
  const done = answer.finally(() => {
    settled = true
  })
  while (!settled) {
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, patienceMs))])
    if (!settled) await clock.advance(cooldownMs)
  }
  return done
}
