import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { createCachedTokenAuthenticator, type TokenCacheOptions, transientRejection } from './token-cache.ts'

function setup(
  answer: (token: string, audiences?: readonly string[]) => AuthenticationOutcome,
  more: Partial<TokenCacheOptions> = {},
) {
  const clock = fakeClock(0)
  const lookups: string[] = []
  const inner: TokenAuthenticator = {
    authenticateToken: async (token, options) => {
      lookups.push(token)
      return answer(token, options?.audiences)
    },
  }
  const tokens = createCachedTokenAuthenticator(inner, { clock, random: seededRandom(1), ...more })
  const judge = async (token: string, audiences?: string[]) => tokens.authenticateToken(token, audiences && { audiences })
  return { clock, lookups, tokens, judge }
}
const user = (username: string, more: object = {}): AuthenticationOutcome => ({
  kind: 'authenticated',
  user: { username, groups: [] },
  ...more,
})

describe('createCachedTokenAuthenticator', () => {
  it('caches successes and failures with separate lifetimes', async () => {
    const { judge, lookups, clock } = setup((token) => (token === 'a' ? user('a') : { kind: 'rejected', reason: 'no' }), {
      successMs: 1000,
      failureMs: 100,
    })
    for (const token of ['a', 'b', 'a', 'b']) await judge(token)
    expect(lookups).toEqual(['a', 'b'])
    clock.advance(100)
    for (const token of ['a', 'b']) await judge(token)
    expect(lookups).toEqual(['a', 'b', 'b'])
    clock.advance(900)
    await judge('a')
    expect(lookups).toEqual(['a', 'b', 'b', 'a'])
  })

  it('caches nothing beyond the expiry of the token, and no transient rejection', async () => {
    const { judge, lookups, clock } = setup((token) =>
      token === 'a' ? user('a', { expiresAt: 500 }) : transientRejection('busy'),
    )
    for (const token of ['a', 'a', 'b', 'b']) await judge(token)
    expect(lookups).toEqual(['a', 'b', 'b'])
    clock.advance(500)
    await judge('a')
    expect(lookups).toHaveLength(4)
  })

  it('caches by audiences', async () => {
    const { judge, lookups } = setup((_, audiences) => user((audiences ?? []).join()))
    expect(await judge('a', ['x'])).toEqual(user('x'))
    expect(await judge('a', ['x', 'y'])).toEqual(user('x,y'))
    expect(await judge('a')).toEqual(user(''))
    expect(await judge('a["x"]')).toEqual(user(''))
    expect(lookups).toHaveLength(4)
  })

  it('shares one call between concurrent calls with equal arguments', async () => {
    const { judge, lookups } = setup(() => user('a'))
    await Promise.all([judge('a'), judge('a'), judge('a')])
    expect(lookups).toEqual(['a'])
  })

  it('bounds its size in bytes; invalid tokens do not evict valid ones', async () => {
    // A failure weighs about 270 bytes: eight fit in the quarter for failures.
    const { judge, lookups } = setup((token) => (token.startsWith('good') ? user(token) : { kind: 'noOpinion' }), {
      maxBytes: 4 * 8 * 275,
    })
    for (const token of ['good-1', 'good-2']) await judge(token)
    for (let i = 0; i < 100; i++) await judge(`bad-${i}`)
    lookups.length = 0
    for (const token of ['good-1', 'good-2', 'bad-99', 'bad-92', 'bad-91']) await judge(token)
    expect(lookups).toEqual(['bad-91'])
  })

  it('does not cache a rejected promise', async () => {
    let fails = true
    const tokens = createCachedTokenAuthenticator(
      {
        authenticateToken: async () => {
          if (fails) throw new Error('broken')
          return user('a')
        },
      },
      { clock: fakeClock(), random: seededRandom(1) },
    )
    await expect(tokens.authenticateToken('a')).rejects.toThrow('broken')
    fails = false
    expect(await tokens.authenticateToken('a')).toEqual(user('a'))
  })
})
