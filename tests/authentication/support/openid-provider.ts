import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { systemClock, systemRandom } from '@krmkit/meta'
import { Provider } from 'oidc-provider'

/** A third-party provider in this process, over TLS. */
export interface OpenIdProvider extends AsyncDisposable {
  readonly issuerUrl: string
  readonly clientId: string
  /** PEM of the authority of its certificate. */
  readonly authority: string
  /** Logs `account` in like a browser, with the authorization code flow. */
  idToken(account: string): Promise<string>
  /** Signs with a new key from now on; the former one stays published unless it is withdrawn. */
  rotate(options?: { readonly forgetFormer?: boolean }): void
  /** `dead`: closes connections; a number: delays responses by this many milliseconds. */
  fault: 'dead' | number | undefined
  /** The requested paths. */
  readonly requestedPaths: string[]
}

const client = { id: 'kubernetes', secret: 'client-secret', redirect: 'https://client.test/callback' }

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const made = createCertificateAuthority({ name: 'provider authority', clock: systemClock, random: systemRandom })
  const { certificate, key } = made.issue({ usage: 'server', hosts: ['127.0.0.1'] })
  let keys = [signingKey()]
  let provider: Provider | undefined
  let handler: ReturnType<Provider['callback']> | undefined
  const requestedPaths: string[] = []
  const server = createServer({ cert: certificate, key }, (request, response) => {
    requestedPaths.push((request.url ?? '').split('?')[0] ?? '')
    if (one.fault === 'dead') request.socket.destroy()
    else if (typeof one.fault === 'number') setTimeout(() => handler?.(request, response), one.fault)
    else handler?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuerUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const agent = new Agent({ ca: made.certificate })
  const start = () => {
    provider = createProvider(issuerUrl, keys)
    handler = provider.callback()
  }
  const one: OpenIdProvider = {
    issuerUrl,
    clientId: client.id,
    authority: made.certificate,
    fault: undefined,
    requestedPaths,
    idToken: (account) => logIn(issuerUrl, { account, agent }),
    rotate({ forgetFormer = false } = {}) {
      keys = forgetFormer ? [signingKey()] : [signingKey(), ...keys]
      start()
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  start()
  return one
}

function signingKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
}

function createProvider(issuerUrl: string, keys: readonly KeyObject[]): Provider {
  const provider = new Provider(issuerUrl, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    adapter: memoryAdapter(),
    jwks: { keys: keys.map((key) => ({ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' })) },
    cookies: { keys: ['cookie-secret'] },
    claims: { openid: ['sub'], profile: ['email', 'email_verified', 'groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => false },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: { AccessToken: 3600, AuthorizationCode: 600, IdToken: 3600, Interaction: 3600, Session: 3600, Grant: 3600 },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: ['dev', 'ops'] }),
    }),
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  // The login page; a header contains the user name.
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next()
    context.respond = false
    const accountId = String(context.req.headers['x-account'])
    await provider.interactionFinished(context.req, context.res as ServerResponse, { login: { accountId } })
  })
  return provider
}

/** Where the provider stores sessions and codes: in a map. */
function memoryAdapter(): (model: string) => object {
  const kept = new Map<string, Record<string, unknown>>()
  const where = (member: string, value: string) => [...kept.values()].find((one) => one[member] === value)
  return (model) => ({
    upsert: async (id: string, payload: Record<string, unknown>) => void kept.set(`${model}:${id}`, payload),
    find: async (id: string) => kept.get(`${model}:${id}`),
    findByUid: async (uid: string) => where('uid', uid),
    findByUserCode: async (code: string) => where('userCode', code),
    destroy: async (id: string) => void kept.delete(`${model}:${id}`),
    revokeByGrantId: async () => undefined,
    consume: async (id: string) => {
      const found = kept.get(`${model}:${id}`)
      if (found !== undefined) found.consumed = Math.floor(Date.now() / 1000)
    },
  })
}

/** Follows the flow from page to page, with cookies. */
async function logIn(
  issuerUrl: string,
  { account, agent }: { readonly account: string; readonly agent: Agent },
): Promise<string> {
  const cookies = new Map<string, string>()
  const visit = async (url: string, more: { readonly body?: string; readonly headers?: Record<string, string> } = {}) => {
    const headers = {
      'x-account': account,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...more.headers,
    }
    const { response, text } = await exchange(new URL(url, issuerUrl), { agent, headers, body: more.body })
    for (const line of response.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    return { status: response.statusCode ?? 0, location: response.headers.location ?? '', text }
  }
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirect,
    response_type: 'code',
    scope: 'openid profile',
  })
  let next = `/auth?${query}`
  for (let hops = 0; !next.startsWith(client.redirect); hops++) {
    const { status, location, text } = await visit(next)
    if (location === '' || hops > 10) throw new Error(`the provider answered with ${status}: ${text.slice(0, 300)}`)
    next = location
  }
  const code = new URL(next).searchParams.get('code') ?? ''
  const answer = await visit('/token', {
    body: String(new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: client.redirect })),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
  })
  return (JSON.parse(answer.text) as { id_token: string }).id_token
}

function exchange(
  url: URL,
  options: { readonly agent: Agent; readonly headers: Record<string, string>; readonly body: string | undefined },
): Promise<{ response: IncomingMessage; text: string }> {
  const { agent, headers, body } = options
  return new Promise((resolve, reject) => {
    const request = httpsRequest(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
      })
      response.on('end', () => resolve({ response, text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}
