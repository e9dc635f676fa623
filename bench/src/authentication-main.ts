/**
 * Requests with each authenticator, compared with anonymous requests. With `--serve`: a server over TLS that prints its address;
 * without: the server without sockets, with results printed as JSON.
 */

import { generateKeyPairSync } from 'node:crypto'
import { parseArgs } from 'node:util'
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
  createCertificateAuthority,
  createFakeFrontProxy,
  createFakeOidcProvider,
  createFakeTokenWebhook,
} from '@krmkit/authentication/testing'
import { alwaysAllowAuthorizer } from '@krmkit/authorization'
import { listen } from '@krmkit/http'
import { systemClock as clock, systemRandom as random, stockProfile } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'

/** One authentication method and its request. */
interface Method {
  readonly name: string
  readonly headers: Record<string, string>
  readonly certificate?: { readonly certificate: string; readonly key: string; readonly certificates: readonly Uint8Array[] }
}

const { values } = parseArgs({
  options: { serve: { type: 'boolean', default: false }, requests: { type: 'string', default: '20000' } },
})
const environment = { clock, random, profile: stockProfile }
const object = '/api/v1/namespaces/default/configmaps/one'

const { server, methods, authorities } = await setup()
if (values.serve) await serve()
else process.stdout.write(`${JSON.stringify(await measure(Number(values.requests)))}\n`)

async function setup() {
  const issuer = 'https://kubernetes.default.svc'
  const people = createCertificateAuthority({ name: 'people', ...environment })
  const front = createFakeFrontProxy(environment)
  const oidc = createFakeOidcProvider({ clock })
  const webhook = createFakeTokenWebhook({ clock })
  webhook.known.set('webhook-token', { user: { username: 'walter', groups: ['ops'] } })
  const keys: ServiceAccountKeys = {
    ...environment,
    issuer,
    signingKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  }
  let made: EmbeddedServer | undefined
  const find = (resource: string, namespace: string, name: string) =>
    made?.registry.reader.get({ group: '', resource }, namespace, name)
  const plurals = { ServiceAccount: 'serviceaccounts', Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const
  const accounts = createServiceAccountTokenAuthenticator(keys, (kind, namespace, name) => {
    const found = find(plurals[kind], namespace, name)
    return found && { uid: found.metadata.uid ?? '' }
  })
  const openId = createOidcAuthenticator({ issuerUrl: oidc.issuerUrl, clientId: oidc.clientId, fetch: oidc.fetch, clock })
  const digest = createKeyedDigest(random)
  const tokens = createTokenAuthenticatorChain([
    withServerAudiences(
      createStaticTokenAuthenticator([{ token: 'static-token', user: { username: 'sam', groups: ['dev'] } }], { digest }),
      [issuer],
    ),
    accounts,
    withServerAudiences(
      createBootstrapTokenAuthenticator({
        ...environment,
        secret: (name) => find('secrets', 'kube-system', name) as BootstrapTokenSecret | undefined,
      }),
      [issuer],
    ),
    withServerAudiences(
      createCachedTokenAuthenticator(openId, { clock, random, successMs: 10_000, failureMs: 0, accepts: isJwtShaped }),
      [issuer],
    ),
    createCachedTokenAuthenticator(createWebhookTokenAuthenticator({ ...environment, url: webhook.url, fetch: webhook.fetch }), {
      clock,
      random,
    }),
  ])
  const known = withAuthenticatedGroup(
    createAuthenticatorChain([
      createFrontProxyAuthenticator({ ...defaultFrontProxyHeaders, authorities: front.authority.certificate, clock }),
      createClientCertificateAuthenticator({ authorities: people.certificate, ...environment }),
      createBearerTokenAuthenticator(tokens, { digest }),
    ]),
  )
  const server = await createApiServer({
    ...environment,
    storage: memoryStorage({ clock }),
    authenticator: createAuthenticatorChain([known, anonymousAuthenticator], { onRejection: 'stop' }),
    authorizer: alwaysAllowAuthorizer,
    serviceAccountIssuer: createServiceAccountIssuer(keys),
  })
  made = server
  const account = await prepare(server)
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const { token: accountToken } = await createServiceAccountIssuer(keys).issue({
    ...account,
    audiences: [],
    expirationSeconds: 36_000,
  })
  const alice = people.issue({ commonName: 'alice', organizations: ['dev'] })
  const shown = ({ certificate, key, peer }: typeof alice) => ({ certificate, key, certificates: peer.certificates })
  const methods: Method[] = [
    { name: 'anonymous', headers: {} },
    { name: 'static token', headers: bearer('static-token') },
    { name: 'service account token', headers: bearer(accountToken) },
    { name: 'bootstrap token', headers: bearer('abcdef.0123456789abcdef') },
    { name: 'OpenID token', headers: bearer(oidc.token()) },
    { name: 'webhook token', headers: bearer('webhook-token') },
    { name: 'client certificate', headers: {}, certificate: shown(alice) },
    {
      name: 'front proxy',
      headers: { 'x-remote-user': 'alice', 'x-remote-group': 'dev' },
      certificate: shown(front.proxy),
    },
  ]
  return { server, methods, authorities: `${people.certificate}${front.authority.certificate}` }
}

/** Creates an object to read, a service account and a bootstrap token. */
async function prepare(server: EmbeddedServer): Promise<{ namespace: string; name: string; uid: string }> {
  const stringData = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' }
  const objects: [string, object][] = [
    ['/api/v1/namespaces/default/configmaps', { kind: 'ConfigMap', metadata: { name: 'one' }, data: { k: 'v'.repeat(500) } }],
    ['/api/v1/namespaces/default/serviceaccounts', { kind: 'ServiceAccount', metadata: { name: 'robot' } }],
    [
      '/api/v1/namespaces/kube-system/secrets',
      { kind: 'Secret', type: 'bootstrap.kubernetes.io/token', metadata: { name: 'bootstrap-token-abcdef' }, stringData },
    ],
  ]
  const user = { username: 'admin', groups: ['system:masters'] }
  for (const [path, body] of objects) {
    const bytes = new TextEncoder().encode(JSON.stringify({ apiVersion: 'v1', ...body }))
    const { status } = await server.handle({ ...request('POST', path, {}, {}), user, body: async () => bytes })
    if (status !== 201) throw new Error(`POST ${path}: ${status}`)
  }
  const account = server.registry.reader.get({ group: '', resource: 'serviceaccounts' }, 'default', 'robot')
  return { namespace: 'default', name: 'robot', uid: account?.metadata.uid ?? '' }
}

function request(method: string, path: string, headers: Record<string, string>, peer: ApiRequest['peer']): ApiRequest {
  const signal = new AbortController().signal
  return {
    method,
    path,
    query: '',
    headers: { accept: 'application/json', ...headers },
    body: async () => new Uint8Array(),
    peer,
    signal,
  }
}

async function measure(requests: number): Promise<{ name: string; microseconds: number }[]> {
  const best = new Map<string, number>()
  // Several alternating rounds, so that noise affects all methods.
  for (let round = 0; round < 6; round++) {
    for (const { name, headers, certificate } of methods) {
      const one = request('GET', object, headers, certificate === undefined ? {} : { certificates: certificate.certificates })
      const from = process.cpuUsage()
      for (let i = 0; i < requests; i++) {
        const { status } = await server.handle(one)
        if (status !== 200) throw new Error(`${name}: ${status}`)
      }
      // CPU time, since other processes share the machine.
      const { user, system } = process.cpuUsage(from)
      const microseconds = (user + system) / requests
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, microseconds))
    }
  }
  return [...best].map(([name, microseconds]) => ({ name, microseconds }))
}

async function serve(): Promise<void> {
  const serving = createCertificateAuthority({ name: 'serving', ...environment })
  const { certificate, key } = serving.issue({ usage: 'server', hosts: ['127.0.0.1'] })
  const listening = await listen(server, { tls: { certificate, key, clientCa: authorities } })
  const told = methods.map(({ name, headers, certificate: shown }) => ({
    name,
    headers,
    ...(shown === undefined ? {} : { certificate: shown.certificate, key: shown.key }),
  }))
  process.stdout.write(`${JSON.stringify({ url: listening.url, ca: serving.certificate, path: object, methods: told })}\n`)
  // Each line on stdin requests the CPU time so far.
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage()
    process.stdout.write(`${user + system}\n`)
  })
  process.stdin.on('end', () => process.exit())
}
