import { generateKeyPairSync } from 'node:crypto'
import { fakeClock } from '@krmkit/meta'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuthenticationOutcome } from '../interfaces.ts'
import { createFakeOidcProvider, type FakeOidcProvider } from '../testing/fake-oidc-provider.ts'
import { createOidcAuthenticator, type OidcOptions } from './oidc-authenticator.ts'

const start = Date.UTC(2026, 0, 1)
let clock = fakeClock(start)
let shared: FakeOidcProvider
beforeAll(() => {
  shared = createFakeOidcProvider({ clock: { now: () => clock.now(), setTimeout: (fn, ms) => clock.setTimeout(fn, ms) } })
})

function setup(more: Partial<OidcOptions> = {}, provider = shared) {
  clock = fakeClock(start)
  provider.faults.next.length = 0
  provider.faults.always = undefined
  Object.assign(provider.requestCounts, { discovery: 0, keys: 0 })
  const errors: unknown[] = []
  const { issuerUrl, clientId, fetch } = provider
  const tokens = createOidcAuthenticator({ issuerUrl, clientId, fetch, clock, onError: (error) => errors.push(error), ...more })
  const judge = async (token: string) => tokens.authenticateToken(token)
  return { tokens, judge, errors, provider }
}
const user = (outcome: AuthenticationOutcome) => (outcome.kind === 'authenticated' ? outcome.user : outcome)
const reasonOf = (outcome: AuthenticationOutcome) => (outcome.kind === 'rejected' ? outcome.reason : outcome)

describe('createOidcAuthenticator', () => {
  it('authenticates an ID token with a discovered key [P239]', async () => {
    const { judge, provider } = setup()
    expect(await judge(provider.token())).toEqual({
      kind: 'authenticated',
      user: { username: 'https://issuer.test#alice', groups: [] },
      expiresAt: start + 3_600_000,
    })
    await judge(provider.token({ claims: { sub: 'bob' } }))
    expect(provider.requestCounts).toEqual({ discovery: 1, keys: 1 })
  })

  it('fetches keys for the first token, even after discovery in advance [P239]', async () => {
    const { tokens, judge, provider } = setup()
    expect(await tokens.prepare()).toBe(true)
    expect(provider.requestCounts).toEqual({ discovery: 1, keys: 0 })
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
    expect(provider.requestCounts).toEqual({ discovery: 1, keys: 1 })
  })

  it('has no opinion on tokens of other issuers and on other text [P239]', async () => {
    const { judge, provider } = setup()
    for (const token of ['', 'x', 'a.b.c', provider.token({ claims: { iss: 'https://other.test' } }), 'x'.repeat(100_000)])
      expect(await judge(token)).toEqual({ kind: 'noOpinion' })
    expect(provider.requestCounts).toEqual({ discovery: 0, keys: 0 })
  })

  it('checks expiry without skew, the start with a minute of skew, and the time of issue with five [P239]', async () => {
    const { judge, provider } = setup()
    const now = start / 1000
    const times = (claims: object) => judge(provider.token({ claims: { ...claims } }))
    expect(reasonOf(await times({ exp: now }))).toContain('expired')
    expect(await times({ exp: now + 1 })).toMatchObject({ kind: 'authenticated' })
    expect(reasonOf(await times({ nbf: now + 61 }))).toContain('not valid yet')
    expect(await times({ nbf: now + 60 })).toMatchObject({ kind: 'authenticated' })
    expect(reasonOf(await times({ iat: now + 301 }))).toContain('future')
    expect(await times({ iat: now + 300 })).toMatchObject({ kind: 'authenticated' })
    expect(reasonOf(await times({ iat: 'tomorrow' }))).toContain('cannot be read')
    expect(reasonOf(await times({ exp: undefined }))).toContain('does not say when it expires')
    expect(reasonOf(await times({ exp: 'tomorrow' }))).toContain('cannot be read')
  })

  it('requires the client id among the audiences, regardless of azp [P240]', async () => {
    const { judge, provider } = setup()
    const audience = (aud: unknown, azp?: string) => judge(provider.token({ claims: { aud, azp } }))
    expect(await audience(['other', provider.clientId])).toMatchObject({ kind: 'authenticated' })
    expect(await audience([provider.clientId], 'other')).toMatchObject({ kind: 'authenticated' })
    for (const aud of ['other', [], undefined, ['other'], { [provider.clientId]: true }])
      expect(reasonOf(await audience(aud, provider.clientId))).toContain('another client')
  })

  it('restricts azp to authorized parties [P240]', async () => {
    const { judge, provider } = setup({ authorizedParties: ['cli'] })
    const party = (azp: unknown) => judge(provider.token({ claims: { azp } }))
    for (const azp of [undefined, 'cli', provider.clientId]) expect(await party(azp)).toMatchObject({ kind: 'authenticated' })
    for (const azp of ['other', ['cli'], 7]) expect(reasonOf(await party(azp))).toContain('not authorized')
  })

  it.each([
    [{}, 'https://issuer.test#alice'],
    [{ usernamePrefix: '-' }, 'alice'],
    [{ usernamePrefix: 'oidc:' }, 'oidc:alice'],
    [{ usernameClaim: 'name' }, 'https://issuer.test#Alice'],
    [{ usernameClaim: 'email' }, 'a@example.com'],
    [{ usernameClaim: 'email', usernamePrefix: 'oidc:' }, 'oidc:a@example.com'],
  ])('maps the user name with options %j [P240]', async (options, username) => {
    const { judge, provider } = setup(options)
    const claims = { name: 'Alice', email: 'a@example.com', email_verified: true }
    expect(user(await judge(provider.token({ claims })))).toMatchObject({ username })
  })

  it('rejects an unverified email address [P240]', async () => {
    const { judge, provider } = setup({ usernameClaim: 'email' })
    const verified = (email_verified: unknown) => judge(provider.token({ claims: { email: 'a@example.com', email_verified } }))
    expect(await verified(true)).toMatchObject({ kind: 'authenticated' })
    // A provider that omits the claim is trusted, as by kube-apiserver.
    expect(await verified(undefined)).toMatchObject({ kind: 'authenticated' })
    for (const value of [false, 'true', 1, null]) expect(reasonOf(await verified(value))).toContain('not verified')
  })

  it.each([[undefined], [''], [7], [null], [['alice']]])('rejects the user name %j', async (sub) => {
    const { judge, provider } = setup()
    expect(reasonOf(await judge(provider.token({ claims: { sub } })))).toContain('holds no user name')
  })

  it('maps a string or a list of strings to prefixed groups [P240]', async () => {
    const plain = setup({ groupsClaim: 'roles' })
    const groups = async (roles: unknown) => user(await plain.judge(plain.provider.token({ claims: { roles } })))
    expect(await groups(['a', 'b'])).toMatchObject({ groups: ['a', 'b'] })
    expect(await groups('a')).toMatchObject({ groups: ['a'] })
    expect(await groups(undefined)).toMatchObject({ groups: [] })
    for (const wrong of [7, { a: true }, ['a', 7]]) expect(await groups(wrong)).toMatchObject({ kind: 'rejected' })
    const prefixed = setup({ groupsClaim: 'roles', groupsPrefix: 'oidc:' })
    expect(user(await prefixed.judge(prefixed.provider.token({ claims: { roles: ['a'] } })))).toMatchObject({
      groups: ['oidc:a'],
    })
  })

  it('requires every required claim with its value [P240]', async () => {
    const { judge, provider } = setup({ requiredClaims: { hd: 'example.com', tier: 'gold' } })
    const claims = (given: object) => judge(provider.token({ claims: { ...given } }))
    expect(await claims({ hd: 'example.com', tier: 'gold' })).toMatchObject({ kind: 'authenticated' })
    for (const given of [{}, { hd: 'example.com' }, { hd: 'example.com', tier: ['gold'] }, { hd: 'other', tier: 'gold' }])
      expect(reasonOf(await claims(given))).toContain('not what is required')
  })

  it.each([
    { issuerUrl: 'http://issuer.test' },
    { issuerUrl: 'issuer' },
    { issuerUrl: 'https://issuer.test?x' },
    { issuerUrl: 'https://me@issuer.test' },
    { clientId: '' },
    { signingAlgorithms: [] },
    { signingAlgorithms: ['none'] },
    { signingAlgorithms: ['HS256'] },
  ])('rejects the options %j [P240]', (options) => {
    expect(() => setup(options)).toThrow(expect.objectContaining({ name: 'AuthenticationError', code: 'InvalidOidc' }))
  })
})

describe('issuer keys', () => {
  const own = () =>
    setup(
      {},
      createFakeOidcProvider({
        clock: { now: () => clock.now(), setTimeout: (fn, ms) => clock.setTimeout(fn, ms) },
        algorithm: 'ES256',
      }),
    )
  const es256 = { signingAlgorithms: ['ES256'] }
  const withOwnKeys = (more: Partial<OidcOptions> = {}) => setup({ ...es256, ...more }, own().provider)

  it('fetches a new key when a token first names it [P239]', async () => {
    const { judge, provider } = withOwnKeys()
    const former = provider.token()
    expect(await judge(former)).toMatchObject({ kind: 'authenticated' })
    provider.rotate()
    clock.advance(60_000)
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
    expect(await judge(former)).toMatchObject({ kind: 'authenticated' })
    expect(provider.requestCounts).toEqual({ discovery: 1, keys: 2 })
  })

  it('decides about an unknown key after a fetch that started after the token arrived, even right after the last fetch [P239]', async () => {
    const { judge, provider } = withOwnKeys()
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
    provider.rotate()
    const judged = Promise.all([judge(provider.token()), judge(provider.token({ claims: { sub: 'bob' } }))])
    await new Promise(setImmediate)
    expect(provider.requestCounts.keys).toBe(1)
    clock.advance(1000)
    expect((await judged).map(({ kind }) => kind)).toEqual(['authenticated', 'authenticated'])
    expect(provider.requestCounts.keys).toBe(2)
  })

  it('fetches at most once per second for made-up key ids', async () => {
    const { judge, provider } = withOwnKeys()
    await judge(provider.token())
    const junk = (kid: string) => judge(provider.token({ header: { kid } }))
    const judged: Promise<AuthenticationOutcome>[] = []
    for (let second = 0; second < 5; second++) {
      for (let i = 0; i < 50; i++) judged.push(junk(`${second}-${i}`))
      clock.advance(1000)
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
    for (const outcome of await Promise.all(judged)) expect(reasonOf(outcome)).toContain('no key of the issuer')
    expect(provider.requestCounts.keys).toBeLessThanOrEqual(6)
  })

  it('waits up to 30 seconds for the keys', async () => {
    const { judge, provider } = withOwnKeys()
    provider.faults.next.push({ slowMs: 29_000 })
    const judged = judge(provider.token())
    await new Promise(setImmediate)
    clock.advance(29_000)
    expect(await judged).toMatchObject({ kind: 'authenticated' })
  })

  it('stops accepting a withdrawn key after the maximum age [P239]', async () => {
    const { judge, provider } = withOwnKeys()
    const former = provider.token()
    expect(await judge(former)).toMatchObject({ kind: 'authenticated' })
    provider.rotate({ forgetFormer: true })
    clock.advance(600_000)
    expect(reasonOf(await judge(former))).toContain('no key of the issuer')
  })

  it('tries all keys for a token without key id [P239]', async () => {
    const { judge, provider } = withOwnKeys()
    const kid = undefined
    expect(await judge(provider.token({ header: { kid } }))).toMatchObject({ kind: 'authenticated' })
    provider.rotate()
    clock.advance(60_000)
    expect(await judge(provider.token({ header: { kid } }))).toMatchObject({ kind: 'authenticated' })
    expect(provider.requestCounts.keys).toBe(2)
  })

  it('rejects tokens while the issuer is down, retries at intervals, and recovers', async () => {
    const { judge, provider, errors } = withOwnKeys()
    provider.faults.always = 'dead'
    expect(reasonOf(await judge(provider.token()))).toContain('not available yet')
    expect(reasonOf(await judge(provider.token()))).toContain('not available yet')
    expect(errors).toHaveLength(1)
    provider.faults.always = undefined
    clock.advance(10_000)
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
  })

  it('keeps using cached keys while the issuer is down', async () => {
    const { judge, provider, errors } = withOwnKeys()
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
    provider.faults.always = 'dead'
    clock.advance(3_600_000)
    expect(await judge(provider.token())).toMatchObject({ kind: 'authenticated' })
    expect(errors).toHaveLength(1)
  })

  it('shares one fetch from a slow issuer, with a deadline', async () => {
    const { judge, provider } = withOwnKeys({ timeoutMs: 5000 })
    provider.faults.always = { slowMs: 4000 }
    const both = Promise.all([judge(provider.token()), judge(provider.token({ claims: { sub: 'bob' } }))])
    for (let i = 0; i < 4; i++) {
      await new Promise(setImmediate)
      clock.advance(2000)
    }
    expect((await both).map(({ kind }) => kind)).toEqual(['authenticated', 'authenticated'])
    expect(provider.requestCounts).toEqual({ discovery: 1, keys: 1 })
    const late = withOwnKeys({ timeoutMs: 5000 })
    late.provider.faults.always = { slowMs: 6000 }
    const judged = late.judge(late.provider.token())
    await new Promise(setImmediate)
    clock.advance(5000)
    expect(reasonOf(await judged)).toContain('not available yet')
  })

  it.each([
    ['another issuer', { issuer: 'https://other.test', jwks_uri: 'https://issuer.test/keys' }],
    ['an http key set', { issuer: 'https://issuer.test', jwks_uri: 'http://issuer.test/keys' }],
    ['no key set', { issuer: 'https://issuer.test' }],
    ['a list', []],
  ])('rejects a discovery document with %s [P239]', async (_, document) => {
    const { judge, provider, errors } = withOwnKeys()
    provider.faults.next.push({ status: 200, text: JSON.stringify(document) })
    expect(reasonOf(await judge(provider.token()))).toContain('not available yet')
    expect(errors).toHaveLength(1)
  })

  it('ignores symmetric keys, and keys for other uses or algorithms', async () => {
    const { judge, provider, errors } = withOwnKeys()
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k' }
    const keys = [
      { kty: 'oct', k: 'c2VjcmV0', kid: 'k', alg: 'ES256' },
      { ...jwk, use: 'enc' },
      { ...jwk, alg: 'ES384' },
      { ...jwk, crv: 'P-384' },
      { ...jwk, x: '!' },
      null,
      'key',
    ]
    const discovery = JSON.stringify({ issuer: provider.issuerUrl, jwks_uri: `${provider.issuerUrl}/keys` })
    provider.faults.next.push({ status: 200, text: discovery }, { status: 200, text: JSON.stringify({ keys }) })
    expect(reasonOf(await judge(provider.token({ header: { kid: 'k' }, signer: privateKey })))).toContain('no key of the issuer')
    expect(errors).toEqual([])
  })
})
