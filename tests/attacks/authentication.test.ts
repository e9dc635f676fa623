import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AttackedServer, bootstrapToken, staticToken } from './attacked-server.ts'
import { expectRefused, seconds, startTokenTarget } from './token-attacks.ts'

/** Attacks on authentication: no attacker is authenticated, and none as another user. */

let target: AttackedServer
beforeAll(async () => {
  target = await startTokenTarget()
})
afterAll(() => target[Symbol.asyncDispose]())
afterEach(() => vi.restoreAllMocks())

describe('floods', () => {
  it('JWKS flooding: unknown kids share one fetch, and known tokens do not wait', async () => {
    const before = target.oidc.requestCounts.keys
    const unknown = (i: number) =>
      target.authenticate({ token: target.oidc.token({ header: { kid: `unknown-${i}` }, signer: 'x' }) })
    const flood = Promise.all(Array.from({ length: 50 }, (_, i) => unknown(i)))
    expect((await target.authenticate({ token: target.oidc.token() })).status).toBe(201)
    expect((await flood).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 401))
    // Tokens that arrive during a fetch wait for the next one.
    expect(target.oidc.requestCounts.keys - before).toBeLessThanOrEqual(3)
    expect((await target.authenticate({ token: target.oidc.token() })).status).toBe(201)
  })

  it('bad tokens do not evict good ones from the cache, nor fill memory', async () => {
    target.webhook.known.set('good-webhook-token', { user: { username: 'walter', groups: [] } })
    expect((await target.authenticate({ token: 'good-webhook-token' })).username).toBe('walter')
    for (let i = 0; i < 5000; i++) await target.authenticate({ token: `flood-${i}` })
    const before = target.webhook.reviews.length
    expect((await target.authenticate({ token: 'good-webhook-token' })).username).toBe('walter')
    expect(target.webhook.reviews.length).toBe(before)
  })
})

describe('proxy headers', () => {
  const asAdmin = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-remote-uid': '1' }
  const unauthenticated = { status: 403, username: undefined }

  it('without a certificate, with a valid token, with an invalid one', async () => {
    expect(await target.authenticate({ headers: asAdmin })).toMatchObject(unauthenticated)
    const robot = await target.authenticate({ headers: asAdmin, token: await target.tokenOf('robot') })
    expect(robot).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    expect(robot.groups).not.toContain('system:masters')
    expect(await target.authenticate({ headers: asAdmin, token: 'wrong' })).toMatchObject({ status: 401 })
  })

  it('with a certificate of the wrong authority, name, usage or validity', async () => {
    const { people, front, clock } = target
    const bob = people.issue({ commonName: 'front-proxy' })
    expect(await target.authenticate({ headers: asAdmin, ...bob.peer })).toMatchObject({ username: 'front-proxy' })
    for (const wrong of [
      front.authority.issue({ commonName: 'another-proxy' }),
      front.authority.issue({ commonName: 'front-proxy', usage: 'server' }),
      front.authority.issue({ commonName: 'front-proxy', notAfterMs: clock.now() - 60_000 }),
      front.authority.issue({ commonName: 'front-proxy', notBeforeMs: clock.now() + 60_000 }),
      front.authority.issue({ commonName: 'front-proxy\u0000.evil' }),
      front.authority.issue({ organizations: ['front-proxy'] }),
    ])
      expect(await target.authenticate({ headers: asAdmin, ...wrong.peer })).toMatchObject({ status: 401 })
  })

  it('a front-proxy certificate without headers does not authenticate', async () => {
    expect(
      await target.authenticate({ ...target.front.proxy.peer, headers: { 'x-remote-group': 'system:masters' } }),
    ).toMatchObject({
      status: 401,
    })
  })

  it('duplicate user names are rejected', async () => {
    for (const names of [
      ['alice', 'admin'],
      ['', 'admin'],
      ['alice', 'alice'],
    ])
      expect(
        await target.authenticate({ headers: { 'x-remote-user': names, 'x-remote-group': ['dev'] }, ...target.front.proxy.peer }),
      ).toMatchObject({ status: 400, username: undefined })
  })

  it('header names that are only similar', async () => {
    for (const name of [
      'x_remote_user',
      'x-remote-user ',
      ' x-remote-user',
      'x-remote-user\u0000',
      'x-remote-users',
      'remote-user',
    ])
      expect(await target.authenticate({ headers: { [name]: 'admin' }, ...target.front.proxy.peer })).toMatchObject({
        status: 401,
      })
  })

  it('extra keys of the object prototype', async () => {
    const headers = { 'x-remote-user': 'alice', 'x-remote-extra-__proto__': 'x', 'x-remote-extra-constructor': 'y' }
    expect(await target.authenticate({ headers, ...target.front.proxy.peer })).toMatchObject({ username: 'alice' })
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('reuse after deletion', () => {
  const core = '/api/v1/namespaces/default'
  const make = (resource: string, object: object) =>
    target.request('POST', `${core}/${resource}`, { apiVersion: 'v1', ...object })
  const known = async (token: string) => (await target.authenticate({ token })).status === 201

  it('of the service account, and after its re-creation', async () => {
    const account = { kind: 'ServiceAccount', metadata: { name: 'short-lived' } }
    await make('serviceaccounts', account)
    const token = await target.tokenOf('short-lived')
    expect(await known(token)).toBe(true)
    await target.request('DELETE', `${core}/serviceaccounts/short-lived`)
    expect(await known(token)).toBe(false)
    await make('serviceaccounts', account)
    expect(await known(token)).toBe(false)
  })

  it('of the Secret that a token is bound to', async () => {
    await make('secrets', { kind: 'Secret', metadata: { name: 'bound' } })
    const token = await target.tokenOf('robot', { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'bound' } })
    expect(await known(token)).toBe(true)
    await target.request('DELETE', `${core}/secrets/bound`)
    expect(await known(token)).toBe(false)
    await make('secrets', { kind: 'Secret', metadata: { name: 'bound' } })
    expect(await known(token)).toBe(false)
  })

  it('of the pod that a token is bound to', async () => {
    const spec = { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] }
    const pod = { kind: 'Pod', metadata: { name: 'bound' }, spec }
    expect((await make('pods', pod)).status).toBe(201)
    const token = await target.tokenOf('robot', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'bound' } })
    expect(await known(token)).toBe(true)
    await target.request('DELETE', `${core}/pods/bound?gracePeriodSeconds=0`)
    expect((await target.request('GET', `${core}/pods/bound`)).status).toBe(404)
    expect(await known(token)).toBe(false)
  })

  it('of a bootstrap token', async () => {
    const path = '/api/v1/namespaces/kube-system/secrets'
    const stringData = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' }
    const secret = { apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', stringData }
    await target.request('POST', path, { ...secret, metadata: { name: 'bootstrap-token-abcdef' } })
    expect(await known(bootstrapToken)).toBe(true)
    await target.request('DELETE', `${path}/bootstrap-token-abcdef`)
    expect(await known(bootstrapToken)).toBe(false)
  })
})

describe('cache poisoning', () => {
  it('a cached result never applies to another token or audience', async () => {
    target.webhook.known.set('poison', { user: { username: 'mallory', groups: ['x'] }, audiences: ['vault', target.issuer] })
    const review = async (token: string, audiences: string[]) => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } }
      const answer = await target.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)
      return answer.json.status as { authenticated?: boolean; audiences?: string[] }
    }
    expect(await review('poison', ['vault'])).toMatchObject({ authenticated: true, audiences: ['vault'] })
    expect((await review('poison', ['store'])).authenticated).toBeUndefined()
    expect((await review('poison["vault"]', [])).authenticated).toBeUndefined()
    expect((await target.authenticate({ token: 'poison' })).username).toBe('mallory')
    await expectRefused(target, 'poison ["vault"]'.replace(' ', ''), 'poison"', '6:poison', 'poisonx', 'Poison')
  })

  it('failures and malformed responses of the webhook are not cached', async () => {
    target.webhook.known.set('late', { user: { username: 'late', groups: [] } })
    target.webhook.faults.next.push('dead', { status: 200, text: '{' }, { status: 500 })
    await expectRefused(target, 'late', 'late', 'late')
    expect((await target.authenticate({ token: 'late' })).username).toBe('late')
  })

  it('caching does not extend the validity of a token', async () => {
    const token = target.oidc.token({ claims: { exp: seconds(target) + 1 } })
    expect((await target.authenticate({ token })).status).toBe(201)
    target.clock.advance(11_000)
    await expectRefused(target, token)
  })
})

describe('information leaks', () => {
  it('timing: secrets are compared and looked up by digest', () => {
    const folder = new URL('../../packages/authentication/src/', import.meta.url)
    const source = (name: string) => readFileSync(new URL(name, folder), 'utf8')
    expect(source('../../base/src/platform/node.ts')).toContain('timingSafeEqual(')
    expect(source('bootstrap-tokens.ts')).toContain("equalSecrets(data('token-secret'), given)")
    expect(source('service-account/legacy-token.ts')).toContain('equalSecrets(held, token)')
    expect(source('static-tokens.ts')).toContain(
      'users.get(options?.digest?.by === digest ? options.digest.value() : digest(token))',
    )
    expect(source('token-cache.ts')).toMatch(/const key = `\$\{options\?\.digest\?\.value\(\) \?\? digest\(token\)\}/)
    expect(source('service-account/token-authenticator.ts')).toContain('const key = options?.digest?.value() ?? digest(token)')
    // Tokens and secrets are compared only with the empty string.
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.includes('.test.'),
    )) {
      const compared = source(name).match(/\b(token|secret|given|expected|held)\b (===|!==|==|!=) [^\n;)]*/g) ?? []
      expect({ name, compared: compared.filter((text) => !/ (===|!==) (''|undefined)/.test(text)) }).toEqual({
        name,
        compared: [],
      })
    }
  })

  it('tokens appear in no audit event, error or response', async () => {
    target.log.length = 0
    const good = await target.tokenOf('robot')
    const secrets = [
      staticToken,
      good,
      target.oidc.token(),
      'very-secret-unknown-token',
      target.oidc.token({ signer: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }),
    ]
    target.webhook.faults.next.push('dead', { status: 500, text: 'very-secret-unknown-token' })
    target.webhook.error = 'cannot look up very-secret-unknown-token'
    const answers: string[] = []
    for (const token of secrets) answers.push((await target.authenticate({ token })).text)
    target.webhook.error = ''
    const written = JSON.stringify([
      answers,
      target.log.map((one) => (one instanceof Error ? [one.message, one.stack, String(one.cause)] : one)),
    ])
    expect(target.log.length).toBeGreaterThan(0)
    for (const token of secrets) {
      expect(written).not.toContain(token)
      expect(written).not.toContain(token.split('.')[2] || token)
    }
  })

  it('tokens are not cached in clear text', async () => {
    const tokens = ['kept-webhook-token', target.oidc.token(), await target.tokenOf('robot'), staticToken]
    target.webhook.known.set('kept-webhook-token', { user: { username: 'w', groups: [] } })
    const kept: unknown[] = []
    for (const prototype of [Map.prototype, WeakMap.prototype] as Map<unknown, unknown>[]) {
      const { set } = prototype
      vi.spyOn(prototype, 'set').mockImplementation(function (this: Map<unknown, unknown>, key, value) {
        kept.push(key, value)
        return set.call(this, key, value)
      })
    }
    for (const token of tokens) await target.authenticate({ token })
    vi.restoreAllMocks()
    const texts = kept.map((one) => (typeof one === 'string' ? one : (JSON.stringify(one) ?? '')))
    expect(texts.length).toBeGreaterThan(0)
    for (const token of tokens) expect(texts.filter((text) => text.includes(token))).toEqual([])
  })

  it('rejections give no reason', async () => {
    const texts = new Set<string>()
    const expired = target.oidc.token({ claims: { exp: 1 } })
    for (const token of ['wrong', 'a.b.c', expired, `${staticToken}x`, 'abcdef.0123456789abcdee'])
      texts.add((await target.authenticate({ token })).text)
    expect([...texts].map((text) => JSON.parse(text) as object)).toEqual([
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      },
    ])
  })
})
