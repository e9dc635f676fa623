import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createTokenAuthenticatorChain } from '../chain.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from '../interfaces.ts'
import { createFakeOidcProvider } from '../testing/fake-oidc-provider.ts'
import { createCachedTokenAuthenticator } from '../token-cache.ts'
import { ConcurrencyLimit, withConcurrencyLimit } from './concurrency-limit.ts'
import { createOidcAuthenticator } from './oidc-authenticator.ts'

const busy = { code: 429, status: { details: { retryAfterSeconds: 1 } } }
const jane: AuthenticationOutcome = { kind: 'authenticated', user: { username: 'jane', groups: [] } }
const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A service that responds when it is released. */
function slowService() {
  const waiting: (() => void)[] = []
  const tokens: TokenAuthenticator = {
    authenticateToken: (token) =>
      new Promise((resolve) => waiting.push(() => resolve(token.startsWith('good') ? jane : noOpinion))),
  }
  return {
    tokens,
    waiting,
    open: () => {
      for (const go of waiting.splice(0)) go()
    },
  }
}

describe('withConcurrencyLimit', () => {
  it('fails calls above the limit immediately with 429', async () => {
    const { tokens, waiting, open } = slowService()
    const bounded = withConcurrencyLimit(tokens, { limit: 3 })
    const held = ['a', 'b', 'good'].map((token) => Promise.resolve(bounded.authenticateToken(token)))
    await expect(bounded.authenticateToken('c')).rejects.toMatchObject(busy)
    expect(waiting).toHaveLength(3)
    open()
    expect(await Promise.all(held)).toEqual([noOpinion, noOpinion, jane])
    const next = bounded.authenticateToken('good')
    open()
    expect(await next).toEqual(jane)
  })

  it('releases the slot when the service fails', async () => {
    const bounded = withConcurrencyLimit({ authenticateToken: () => Promise.reject(new Error('broken')) }, { limit: 1 })
    for (let i = 0; i < 3; i++) await expect(bounded.authenticateToken('a')).rejects.toThrow('broken')
  })

  it('does not limit cached tokens, or tokens of an earlier authenticator', async () => {
    const { tokens, open } = slowService()
    const cached = createCachedTokenAuthenticator(withConcurrencyLimit(tokens, { limit: 2 }), {
      clock: fakeClock(),
      random: seededRandom(1),
    })
    const own: TokenAuthenticator = { authenticateToken: (token) => (token === 'own' ? jane : noOpinion) }
    const all = createTokenAuthenticatorChain([own, cached])
    const first = all.authenticateToken('good')
    open()
    await first
    const junk = Array.from({ length: 205 }, (_, i) => Promise.resolve(all.authenticateToken(`junk-${i}`)))
    const outcomes = Promise.allSettled(junk)
    await settled()
    expect(all.authenticateToken('good')).toEqual(jane)
    expect(all.authenticateToken('own')).toEqual(jane)
    // Equal calls share one request.
    const same = [all.authenticateToken('junk-0'), all.authenticateToken('junk-0')]
    open()
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(203)
    expect(await Promise.all(same)).toEqual([noOpinion, noOpinion])
  })

  it('does not count synchronous outcomes', async () => {
    const calls = new ConcurrencyLimit(1)
    for (let i = 0; i < 5; i++) expect(await calls.run(async () => i)).toBe(i)
  })
})

describe('an OpenID issuer that does not respond', () => {
  it('limits waiting tokens, while tokens with cached keys are authenticated', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const lab = createFakeOidcProvider({ clock })
    const { issuerUrl, clientId, fetch } = lab
    const tokens = createOidcAuthenticator({ issuerUrl, clientId, fetch, clock })
    expect(await tokens.authenticateToken(lab.token())).toMatchObject({ kind: 'authenticated' })
    clock.advance(60_000)
    lab.faults.always = { slowMs: 60_000 }
    const junk = Array.from({ length: 150 }, (_, i) =>
      Promise.resolve(tokens.authenticateToken(lab.token({ header: { kid: `made-up-${i}` } }))),
    )
    const refused = junk.slice(100).map((outcome) => expect(outcome).rejects.toMatchObject(busy))
    await Promise.all(refused)
    expect(await tokens.authenticateToken(lab.token({ claims: { sub: 'bob' } }))).toMatchObject({ kind: 'authenticated' })
    for (let i = 0; i < 10; i++) {
      clock.advance(30_000)
      await settled()
    }
    for (const outcome of await Promise.all(junk.slice(0, 100))) expect(outcome.kind).toBe('rejected')
  })
})
