import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CertificateAuthority,
  createCertificateAuthority,
  createFakeTokenWebhook,
  forgeToken,
} from '@krmkit/authentication/testing'
import { type Client, createRemoteClient, type KubeconfigConnection, loadKubeconfig, resourceType } from '@krmkit/client'
import { type Listener, listen } from '@krmkit/http'
import { systemClock, systemRandom, type UserInfo } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../serve.ts'
import { serveOptions } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

/** Tests each authentication flag with a server on a port. */

const environment = { clock: systemClock, random: systemRandom }
const secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })
const configMaps = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const pods = resourceType({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
const accounts = resourceType({ group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount' })

const folder = temporaryFolder({ perTest: true })
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const logged: string[] = []
const log = {
  info: (text: string) => void logged.push(text),
  error: (text: string, error?: unknown) => void logged.push(`${text}: ${String(error)}`),
}
async function start(...flags: string[]): Promise<RunningServer & { admin: Client; connection: KubeconfigConnection }> {
  const serving = await serve(await serveOptions(`${folder}/data`, flags), log)
  closing.push(() => serving.close())
  const connection = await loadKubeconfig({ path: serving.kubeconfig! })
  const admin = createRemoteClient(connection)
  closing.push(() => admin.close())
  return { ...serving, admin, connection }
}
const file = async (name: string, text: string) => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}
/** The user that the server authenticates, or the status of the error. */
async function who(
  { server, ca = '' }: KubeconfigConnection,
  as: { token?: string; certificate?: string; key?: string; headers?: Record<string, string> } = {},
): Promise<UserInfo | number> {
  const { headers = {}, token = '', certificate, key } = as
  const pair = certificate === undefined || key === undefined ? {} : { certificate, key }
  const client = createRemoteClient({ server, ca, token, ...pair })
  try {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const response = await client.request({ method: 'POST', path, body, headers })
    const answer = (await response.json()) as { status: { userInfo: UserInfo } }
    return response.status === 201 ? answer.status.userInfo : response.status
  } finally {
    await client.close()
  }
}

describe('client certificates', () => {
  it('--client-ca-file: authenticates user, groups and uid; rejects other authorities', async () => {
    const people = createCertificateAuthority({ name: 'people', ...environment })
    const { connection } = await start(`--client-ca-file=${await file('ca.pem', people.certificate)}`)
    const alice = people.intermediate({ name: 'below' }).issue({ commonName: 'alice', organizations: ['dev'], uids: ['7'] })
    expect(await who(connection, alice)).toMatchObject({ username: 'alice', uid: '7', groups: ['dev', 'system:authenticated'] })
    const mallory = createCertificateAuthority({ name: 'people', ...environment }).issue({ commonName: 'admin' })
    expect(await who(connection, mallory)).toBe(401)
    expect(await who(connection, people.issue({ commonName: 'alice', usage: 'server' }))).toBe(401)
  })
})

describe('an authenticating proxy', () => {
  const headers = {
    'X-Remote-User': 'alice',
    'X-Remote-Uid': '7',
    'X-Remote-Group': 'dev',
    'X-Remote-Extra-Example.com%2fProject': 'p',
  }
  const usual = [
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]
  let front: CertificateAuthority
  beforeEach(() => {
    front = createCertificateAuthority({ name: 'front', ...environment })
  })

  it('has its headers accepted only with an allowed name [P244]', async () => {
    const ca = `--requestheader-client-ca-file=${await file('front.pem', front.certificate)}`
    const { connection } = await start(ca, '--requestheader-allowed-names=proxy,other', ...usual)
    expect(await who(connection, { ...front.issue({ commonName: 'proxy' }), headers })).toEqual({
      username: 'alice',
      uid: '7',
      groups: ['dev', 'system:authenticated'],
      extra: { 'example.com/project': ['p'] },
    })
    expect(await who(connection, { ...front.issue({ commonName: 'someone' }), headers })).toBe(401)
    expect(await who(connection, { headers })).toBe(403)
  })

  it('is published to aggregated API servers', async () => {
    const ca = `--requestheader-client-ca-file=${await file('front.pem', front.certificate)}`
    const { admin } = await start(ca, '--requestheader-allowed-names=proxy', ...usual)
    const name = 'extension-apiserver-authentication'
    for await (const { object } of admin.watch(configMaps, {
      namespace: 'kube-system',
      fieldSelector: `metadata.name=${name}`,
    })) {
      expect((object as { data?: unknown }).data).toEqual({
        // The authority that the server generated for signing.
        'client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
        'requestheader-client-ca-file': front.certificate,
        'requestheader-allowed-names': '["proxy"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      })
      break
    }
  })

  it('rejects flags that would let every client act as a proxy [P244]', async () => {
    const ca = `--requestheader-client-ca-file=${await file('front.pem', front.certificate)}`
    await expect(start(ca)).rejects.toMatchObject({ code: 'InvalidFlag', message: expect.stringContaining('username-headers') })
    const same = `--client-ca-file=${join(folder, 'front.pem')}`
    await expect(start(ca, same, ...usual)).rejects.toMatchObject({ message: expect.stringContaining('allowed-names') })
    const { connection } = await start(ca, same, ...usual, '--requestheader-allowed-names=proxy')
    expect(await who(connection, { ...front.issue({ commonName: 'bob' }), headers })).toMatchObject({ username: 'bob' })
  })
})

describe('bootstrap tokens', () => {
  const secret = {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
  }
  it.each([
    [['--enable-bootstrap-token-auth'], { username: 'system:bootstrap:abcdef' }],
    [[], 401],
  ] as const)('are accepted only with the flag: %j [P260] [P261]', async (flags, expected) => {
    const { admin, connection } = await start(...flags)
    await admin.create(secrets, secret)
    const found = await who(connection, { token: 'abcdef.0123456789abcdef' })
    if (typeof expected === 'number') expect(found).toBe(expected)
    else expect(found).toMatchObject(expected)
  })
})

describe('service accounts', () => {
  const issue = async (admin: Client, spec: object = {}) => {
    const response = await admin.request({
      method: 'POST',
      path: '/api/v1/namespaces/default/serviceaccounts/robot/token',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: spec as never },
    })
    return { response, answer: (await response.json()) as { spec: object; status: { token: string } } }
  }

  it('fills Secrets of their type, accepts the tokens and records their last use [P238]', async () => {
    const { admin, connection } = await start()
    const { uid } = (await admin.create(accounts, { metadata: { name: 'robot' } })).metadata
    await admin.create(secrets, {
      metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
    } as never)
    let token = ''
    for await (const { object } of admin.watch(secrets, { namespace: 'default', fieldSelector: 'metadata.name=s' })) {
      const { data = {} } = object as { data?: Record<string, string> }
      token = Buffer.from(data.token ?? '', 'base64').toString()
      if (token !== '') break
    }
    expect(await who(connection, { token })).toMatchObject({ username: 'system:serviceaccount:default:robot', uid })
    for await (const { object } of admin.watch(secrets, { namespace: 'default', fieldSelector: 'metadata.name=s' }))
      if (object.metadata.labels?.['kubernetes.io/legacy-token-last-used'] !== undefined) break
    await admin.delete(secrets, 's')
    expect(await who(connection, { token })).toBe(401)
  })

  it('accepts additional issuers and keys; the first issuer issues tokens and publishes discovery documents', async () => {
    const former = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = await file('former.pem', former.publicKey.export({ type: 'spki', format: 'pem' }) as string)
    const { admin, connection } = await start(
      '--service-account-issuer=https://now.test',
      '--service-account-issuer=https://former.test',
      `--service-account-key-file=${pem}`,
    )
    const { uid } = (await admin.create(accounts, { metadata: { name: 'robot' } })).metadata
    const now = Math.floor(Date.now() / 1000)
    const token = forgeToken({
      header: { alg: 'ES256' },
      claims: {
        ...{ iss: 'https://former.test', aud: ['https://former.test'], exp: now + 600 },
        sub: 'system:serviceaccount:default:robot',
        'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid } },
      },
      signer: former.privateKey,
    })
    expect(await who(connection, { token })).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    const { answer } = await issue(admin)
    expect(answer.spec).toMatchObject({ audiences: ['https://now.test', 'https://former.test'] })
    const document = await admin.request({ path: '/.well-known/openid-configuration' })
    expect(document.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' })
    const configuration = (await document.json()) as { issuer: string; jwks_uri: string }
    expect(configuration.issuer).toBe('https://now.test')
    expect(configuration.jwks_uri).toBe(`${connection.server}/openid/v1/jwks`)
    const keys = await admin.request({ path: '/openid/v1/jwks', headers: { accept: '*/*' } })
    expect(keys.headers['content-type']).toBe('application/jwk-set+json')
    expect(((await keys.json()) as { keys: unknown[] }).keys).toHaveLength(2)
    const paths = (await (await admin.request({ path: '/' })).json()) as { paths: string[] }
    expect(paths.paths).toEqual(expect.arrayContaining(['/.well-known/openid-configuration', '/openid/v1/jwks']))
    expect((await admin.request({ method: 'POST', path: '/openid/v1/jwks' })).status).toBe(405)
  })

  it('extends tokens of pods, or limits them to one hour without the flag [P326]', async () => {
    const secondsOf = async (admin: Client) => {
      for await (const { object } of admin.watch(accounts, { namespace: 'default' }))
        if (object.metadata.name === 'default') break
      const spec = { containers: [{ name: 'c', image: 'i' }] }
      const pod = JSON.stringify(await admin.create(pods, { metadata: { name: 'p' }, spec } as never))
      return Number(/"expirationSeconds":(\d+)/.exec(pod)?.[1])
    }
    expect(await secondsOf((await start()).admin)).toBe(3607)
    const flags = ['--service-account-extend-token-expiration=false', `--write-kubeconfig=${folder}/second`]
    expect(await secondsOf((await start(...flags)).admin)).toBe(3600)
  })

  it('--service-account-max-token-expiration shortens the lifetime with a warning', async () => {
    const { admin } = await start('--service-account-max-token-expiration=2h')
    await admin.create(accounts, { metadata: { name: 'robot' } })
    const { response, answer } = await issue(admin, { expirationSeconds: 86_400 })
    expect(answer.spec).toMatchObject({ expirationSeconds: 7200 })
    expect(response.headers.warning).toContain('requested expiration of 86400 seconds shortened to 7200 seconds')
  })
})

describe('a token webhook', () => {
  let listening: Listener
  const lab = createFakeTokenWebhook({ clock: systemClock })
  beforeEach(() => {
    lab.reviews.length = 0
    lab.known.set('good', { user: { username: 'walter', uid: '9', groups: ['ops'], extra: { scopes: ['view'] } } })
  })
  /** Serves the webhook lab over TLS with a required client certificate. */
  const webhook = async (): Promise<string> => {
    const authority = createCertificateAuthority({ name: 'webhook', ...environment })
    const { certificate, key } = authority.issue({ usage: 'server', hosts: ['127.0.0.1'] })
    const empty = { kind: 'empty' } as const
    const handle: Parameters<typeof listen>[0]['handle'] = async (request) => {
      const allowed = request.headers.authorization === 'Bearer of-the-server' && request.path === '/review'
      if (!allowed) return { status: 403, headers: {}, body: empty }
      const body = new TextDecoder().decode(await request.body(100_000))
      const answer = await lab.fetch(lab.url, { method: 'POST', headers: {}, body, signal: request.signal, redirect: 'manual' })
      const parts: Uint8Array[] = []
      for await (const part of answer.body ?? []) parts.push(part)
      const headers = { 'content-type': 'application/json' }
      return { status: answer.status, headers, body: { kind: 'bytes', bytes: Buffer.concat(parts) } }
    }
    listening = await listen({ handle }, { tls: { certificate, key } })
    closing.push(() => listening.close({ graceMs: 0 }))
    const ca = Buffer.from(authority.certificate).toString('base64')
    return file(
      'webhook.yaml',
      JSON.stringify({
        clusters: [{ name: 'w', cluster: { server: `${listening.url}/review`, 'certificate-authority-data': ca } }],
        users: [{ name: 'u', user: { token: 'of-the-server' } }],
        contexts: [{ name: 'c', context: { cluster: 'w', user: 'u' } }],
        'current-context': 'c',
      }),
    )
  }

  it('is called with the connection of its kubeconfig and the version of its flag, and cached [P241] [P242]', async () => {
    const flag = `--authentication-token-webhook-config-file=${await webhook()}`
    const first = await start(flag)
    expect(await who(first.connection, { token: 'good' })).toEqual({
      username: 'walter',
      uid: '9',
      groups: ['ops', 'system:authenticated'],
      extra: { scopes: ['view'] },
    })
    await who(first.connection, { token: 'good' })
    expect(await who(first.connection, { token: 'bad' })).toBe(401)
    expect(lab.reviews.map(({ apiVersion, spec }) => [apiVersion, spec.token, spec.audiences])).toEqual([
      ['authentication.k8s.io/v1beta1', 'good', ['https://kubernetes.default.svc']],
      ['authentication.k8s.io/v1beta1', 'bad', ['https://kubernetes.default.svc']],
    ])
    const more = ['--authentication-token-webhook-version=v1', '--authentication-token-webhook-cache-ttl=0s']
    const second = await start(flag, ...more, `--write-kubeconfig=${folder}/second`)
    await who(second.connection, { token: 'good' })
    await who(second.connection, { token: 'good' })
    expect(lab.reviews.slice(2).map(({ apiVersion }) => apiVersion)).toEqual([
      'authentication.k8s.io/v1',
      'authentication.k8s.io/v1',
    ])
  })

  it("answers with the webhook's error, and generally without one [P311]", async () => {
    const { connection } = await start(`--authentication-token-webhook-config-file=${await webhook()}`)
    const refused = async (token: string) => {
      const client = createRemoteClient({ server: connection.server, ca: connection.ca ?? '', token })
      closing.push(() => client.close())
      const response = await client.request({ method: 'GET', path: '/api/v1/pods' })
      return [response.status, ((await response.json()) as { message: string }).message]
    }
    lab.error = 'the credentials are expired'
    expect(await refused('old')).toEqual([401, 'the credentials are expired'])
    lab.error = ''
    expect(await refused('bad')).toEqual([401, 'Unauthorized'])
  })

  it('keeps the reason of a failed review from the client [P311]', async () => {
    const { connection } = await start(`--authentication-token-webhook-config-file=${await webhook()}`)
    lab.faults.next.push({ status: 403, text: 'internal' })
    expect(await who(connection, { token: 'good' })).toBe(401)
    expect(logged.at(-1)).toContain('the token webhook responded with status 403')
    expect(logged.join()).not.toContain('good')
  })
})

describe('anonymous requests', () => {
  it('are rejected with mode AlwaysAllow [P248]', async () => {
    const { connection } = await start('--authorization-mode=AlwaysAllow', '--anonymous-auth=true')
    expect(await who(connection)).toBe(401)
  })

  it('rejects incomplete OpenID flags [P240]', async () => {
    await expect(start('--oidc-issuer-url=https://issuer.test')).rejects.toMatchObject({ code: 'InvalidFlag' })
    const both = ['--oidc-issuer-url=https://issuer.test', '--oidc-client-id=c']
    await expect(start(...both, '--oidc-signing-algs=HS256')).rejects.toMatchObject({ message: expect.stringContaining('HS256') })
  })
})
