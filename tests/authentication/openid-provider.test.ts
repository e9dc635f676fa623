import { createOidcAuthenticator, type OidcAuthenticator, type OidcOptions } from '@krmkit/authentication'
import { createRemoteTransport } from '@krmkit/client'
import { type Clock, systemClock } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenIdProvider, startOpenIdProvider } from './support/openid-provider.ts'

/** OpenID Connect with a third-party provider. */

let provider: OpenIdProvider
const transports: { close(): Promise<void> }[] = []
beforeAll(async () => {
  provider = await startOpenIdProvider()
})
afterAll(async () => {
  await Promise.all(transports.map((transport) => transport.close()))
  await provider[Symbol.asyncDispose]()
})

/** Real time, from a start that tests can move. */
function movingClock(): Clock & { aheadMs: number } {
  return {
    aheadMs: 0,
    setTimeout: systemClock.setTimeout,
    now() {
      return Date.now() + this.aheadMs
    },
  }
}

function setup(more: Partial<OidcOptions> = {}) {
  const transport = createRemoteTransport({ server: provider.issuerUrl, ca: provider.authority })
  transports.push(transport)
  const clock = movingClock()
  const errors: unknown[] = []
  const tokens: OidcAuthenticator = createOidcAuthenticator({
    issuerUrl: provider.issuerUrl,
    clientId: provider.clientId,
    clock,
    fetch: async (url, { method, headers, signal }) => {
      const { pathname, search } = new URL(url)
      const {
        status,
        headers: answered,
        body,
      } = await transport.send({ method, path: pathname, query: search.slice(1), headers, signal })
      return { status, headers: { get: (name) => String(answered[name] ?? '') || null }, body }
    },
    onError: (error) => errors.push(error),
    ...more,
  })
  provider.requestedPaths.length = 0
  return { tokens, clock, errors, judge: async (token: string) => tokens.authenticateToken(token) }
}
const keysAsked = () => provider.requestedPaths.filter((path) => path === '/jwks').length

describe('a real OpenID provider', () => {
  it('authenticates its ID tokens with their claims [P239, P240]', async () => {
    const token = await provider.idToken('alice')
    const { judge, errors } = setup({ usernameClaim: 'email', groupsClaim: 'groups', groupsPrefix: 'oidc:' })
    expect(await judge(token)).toMatchObject({
      kind: 'authenticated',
      user: { username: 'alice@example.com', groups: ['oidc:dev', 'oidc:ops'] },
    })
    expect(errors).toEqual([])
    expect(provider.requestedPaths).toEqual(['/.well-known/openid-configuration', '/jwks'])
  })

  it('accepts a token only for its client and until it expires [P239]', async () => {
    const token = await provider.idToken('alice')
    expect(await setup({ clientId: 'another' }).judge(token)).toMatchObject({ kind: 'rejected' })
    const { judge, clock } = setup()
    expect(await judge(token)).toMatchObject({ kind: 'authenticated', user: { username: `${provider.issuerUrl}#alice` } })
    clock.aheadMs = 3_700_000
    expect(await judge(token)).toMatchObject({ kind: 'rejected' })
  })

  it('follows key rotation and withdrawal [P239]', async () => {
    const { judge, clock } = setup()
    const former = await provider.idToken('alice')
    expect(await judge(former)).toMatchObject({ kind: 'authenticated' })
    provider.rotate()
    const next = await provider.idToken('bob')
    clock.aheadMs += 10_000
    expect(await judge(next)).toMatchObject({ kind: 'authenticated' })
    expect(await judge(former)).toMatchObject({ kind: 'authenticated' })
    expect(keysAsked()).toBe(2)
    provider.rotate({ forgetFormer: true })
    clock.aheadMs += 600_000
    expect(await judge(next)).toMatchObject({ kind: 'rejected' })
  })

  it('an unavailable issuer does not affect tokens with cached keys, and is retried', async () => {
    const token = await provider.idToken('alice')
    const known = setup()
    expect(await known.judge(token)).toMatchObject({ kind: 'authenticated' })
    provider.fault = 'dead'
    known.clock.aheadMs += 600_000
    expect(await known.judge(token)).toMatchObject({ kind: 'authenticated' })
    const stranger = setup()
    expect(await stranger.judge(token)).toMatchObject({ kind: 'rejected' })
    expect(stranger.errors).toHaveLength(1)
    provider.fault = undefined
    expect(await stranger.judge(token)).toMatchObject({ kind: 'rejected' })
    stranger.clock.aheadMs += 10_000
    expect(await stranger.judge(token)).toMatchObject({ kind: 'authenticated' })
  })

  it('concurrent requests share one fetch from a slow issuer, with a timeout', async () => {
    const token = await provider.idToken('alice')
    provider.fault = 100
    const patient = setup()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => patient.judge(token)))
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['authenticated']))
    expect(provider.requestedPaths).toEqual(['/.well-known/openid-configuration', '/jwks'])
    const hasty = setup({ timeoutMs: 10 })
    expect(await hasty.judge(token)).toMatchObject({ kind: 'rejected' })
    expect(String(hasty.errors[0])).toContain('no response within 10 ms')
    provider.fault = undefined
  })

  it('does not use an issuer with an untrusted authority [P240]', async () => {
    const token = await provider.idToken('alice')
    const transport = createRemoteTransport({ server: provider.issuerUrl })
    transports.push(transport)
    const errors: unknown[] = []
    const tokens = createOidcAuthenticator({
      issuerUrl: provider.issuerUrl,
      clientId: provider.clientId,
      clock: systemClock,
      fetch: async (url, { method, headers, signal }) => {
        const { status, body } = await transport.send({ method, path: new URL(url).pathname, query: '', headers, signal })
        return { status, headers: { get: () => null }, body }
      },
      onError: (error) => errors.push(error),
    })
    provider.requestedPaths.length = 0
    expect(await tokens.authenticateToken(token)).toMatchObject({ kind: 'rejected' })
    expect(provider.requestedPaths).toEqual([])
    expect(String(errors[0])).toMatch(/unable to (verify|get local issuer certificate)/)
  })
})
