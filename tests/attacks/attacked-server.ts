import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import type { CertificateAuthority, FakeFrontProxy, FakeOidcProvider, FakeTokenWebhook } from '@krmkit/authentication/testing'
import { systemMasters } from '@krmkit/authorization'
import { builtInTypes } from '@krmkit/kinds'
import { type FakeClock, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { allAuthenticators, serverAudience } from '../authentication/support/all-authenticators.ts'
import { type Answer, requestOf, send } from '../protocol/server.ts'

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
  authenticate(sent: Sent): Promise<AuthenticationResult>
  /** Sends a request as the administrator. */
  request(method: string, path: string, body?: object): Promise<Answer>
  /** A service account token issued by the server. */
  tokenOf(account: string, spec?: object): Promise<string>
}

export interface Sent {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly token?: string
  readonly certificates?: readonly Uint8Array[]
}

export interface AuthenticationResult {
  readonly status: number
  readonly username: string | undefined
  readonly groups: readonly string[]
  readonly text: string
}

export const staticToken = 'static-token-of-the-administrator-0123456789'
export const bootstrapToken = 'abcdef.0123456789abcdef'
export const cooldownMs = 1_000

const types = builtInTypes()
const selfSubjectReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }

export async function startAttackedServer(): Promise<AttackedServer> {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const environment = { clock, random: seededRandom(11), profile: stockProfile }
  const signingKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const log: unknown[] = []
  const onError = (error: unknown) => void log.push(error)
  const pending = new PendingRequests(clock)
  let server: EmbeddedServer | undefined
  const { authenticator, issuer, ...fakes } = allAuthenticators({
    ...environment,
    signingKey,
    staticTokens: [{ token: staticToken, user: { username: 'admin', groups: ['system:masters'] } }],
    object: (resource, namespace, name) => server?.registry.reader.get({ group: '', resource }, namespace, name),
    oidcOptions: { cooldownMs, onError, groupsClaim: 'groups' },
    webhookOptions: { audiences: [serverAudience], onError, backoffMs: [] },
  })
  server = await createApiServer({
    ...environment,
    types,
    storage: memoryStorage({ clock }),
    authenticator,
    // All users may review themselves: the response shows the result of authentication.
    authorizer: systemMasters,
    serviceAccountIssuer: issuer,
    audit: (event: unknown) => void log.push(event),
    onError,
  })
  const request: AttackedServer['request'] = (method, target, body) => {
    const [path = '', query = ''] = target.split('?')
    return send(server.handle, method, path, { query, ...(body === undefined ? {} : { body }) })
  }
  return {
    ...fakes,
    server,
    clock,
    signingKey,
    issuer: serverAudience,
    log,
    request,
    authenticate: (sent) => pending.run(review(server, sent)),
    async tokenOf(account, spec = {}) {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
      const answer = await request('POST', `/api/v1/namespaces/default/serviceaccounts/${account}/token`, body)
      return (answer.json.status as { token: string }).token
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** Sends a SelfSubjectReview with the given headers. */
async function review(server: EmbeddedServer, { headers = {}, token, certificates }: Sent): Promise<AuthenticationResult> {
  const all = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
  const request = requestOf('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: selfSubjectReview })
  const { user: _, ...anonymous } = request
  const peer = certificates === undefined ? {} : { certificates }
  const answer = await send(() => server.handle({ ...anonymous, headers: all, peer }), 'POST', '/')
  const { userInfo } = (answer.json?.status ?? {}) as { userInfo?: { username: string; groups: string[] } }
  return { status: answer.status, username: userInfo?.username, groups: userInfo?.groups ?? [], text: answer.text }
}

/** How long no request must begin or end before the fake clock advances, in real milliseconds. */
const patienceMs = 25

/**
 * Advances the clock while all requests wait: a token with an unknown key waits until the issuer's keys may be fetched again. One loop
 * serves all requests, so that many of them do not speed up time.
 */
class PendingRequests {
  readonly #clock: FakeClock
  #pending = 0
  #changes = 0
  #isAdvancing = false

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  async run<T>(response: Promise<T>): Promise<T> {
    this.#pending++
    this.#changes++
    void this.#advance()
    try {
      return await response
    } finally {
      this.#pending--
      this.#changes++
    }
  }

  async #advance(): Promise<void> {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    while (this.#pending > 0) {
      const before = this.#changes
      await new Promise((resolve) => setTimeout(resolve, patienceMs))
      if (this.#pending > 0 && this.#changes === before) this.#clock.advance(cooldownMs)
    }
    this.#isAdvancing = false
  }
}
