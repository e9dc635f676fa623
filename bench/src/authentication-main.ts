/**
 * Requests with each authenticator, compared with anonymous requests. With `--serve`: a server over TLS that prints its address;
 * without: the server without sockets, with results printed as JSON.
 */

import { generateKeyPairSync } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { createCertificateAuthority } from '@krmkit/authentication/testing'
import { alwaysAllowAuthorizer } from '@krmkit/authorization'
import { listen } from '@krmkit/http'
import { systemClock as clock, systemRandom as random, stockProfile } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { allAuthenticators } from '../../tests/authentication/support/all-authenticators.ts'

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
  let made: EmbeddedServer | undefined
  const { authenticator, issuer, oidc, webhook, front, people } = allAuthenticators({
    ...environment,
    signingKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    staticTokens: [{ token: 'static-token', user: { username: 'sam', groups: ['dev'] } }],
    object: (resource, namespace, name) => made?.registry.reader.get({ group: '', resource }, namespace, name),
  })
  webhook.known.set('webhook-token', { user: { username: 'walter', groups: ['ops'] } })
  const server = await createApiServer({
    ...environment,
    storage: memoryStorage({ clock }),
    authenticator,
    authorizer: alwaysAllowAuthorizer,
    serviceAccountIssuer: issuer,
  })
  made = server
  const account = await prepare(server)
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const { token: accountToken } = await issuer.issue({ ...account, audiences: [], expirationSeconds: 36_000 })
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
  const described = methods.map(({ name, headers, certificate: shown }) => ({
    name,
    headers,
    ...(shown === undefined ? {} : { certificate: shown.certificate, key: shown.key }),
  }))
  process.stdout.write(`${JSON.stringify({ url: listening.url, ca: serving.certificate, path: object, methods: described })}\n`)
  // Each line on stdin requests the CPU time so far.
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage()
    process.stdout.write(`${user + system}\n`)
  })
  process.stdin.on('end', () => process.exit())
}
