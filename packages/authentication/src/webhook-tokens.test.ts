import { fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AuthenticationOutcome } from './interfaces.ts'
import { createFakeTokenWebhook } from './testing/fake-token-webhook.ts'
import { createCachedTokenAuthenticator } from './token-cache.ts'
import { createWebhookTokenAuthenticator, type WebhookTokenOptions } from './webhook-tokens.ts'

function setup(more: Partial<WebhookTokenOptions> = {}) {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const webhook = createFakeTokenWebhook({ clock })
  webhook.known.set('good', { user: { username: 'alice', uid: '1', groups: ['dev'], extra: { scopes: ['view'] } } })
  const errors: unknown[] = []
  const random = seededRandom(3)
  const tokens = createWebhookTokenAuthenticator({
    url: webhook.url,
    fetch: webhook.fetch,
    clock,
    random,
    profile: stockProfile,
    onError: (error) => errors.push(error),
    ...more,
  })
  /** Judges while time passes. */
  const judge = async (token: string, audiences?: string[], by = tokens): Promise<AuthenticationOutcome> => {
    let done = false
    const outcome = Promise.resolve(by.authenticateToken(token, audiences && { audiences })).finally(() => {
      done = true
    })
    for (let i = 0; i < 100 && !done; i++) {
      await new Promise(setImmediate)
      if (!done) clock.advance(100)
    }
    return outcome
  }
  return { clock, webhook, tokens, judge, errors, random }
}
const alice = { username: 'alice', uid: '1', groups: ['dev'], extra: { scopes: ['view'] } }

describe('webhookTokens', () => {
  it.each([
    [undefined, 'v1beta1'],
    ['v1beta1', 'v1beta1'],
    ['v1', 'v1'],
  ] as const)(
    'P233 P241 P242 P344 asks by TokenReview in the version that is set (%s), by default v1beta1',
    async (version, sent) => {
      const { judge, webhook } = setup(version === undefined ? {} : { version })
      expect(await judge('good')).toEqual({ kind: 'authenticated', user: alice })
      expect(webhook.reviews).toMatchObject([
        { apiVersion: `authentication.k8s.io/${sent}`, kind: 'TokenReview', spec: { token: 'good' } },
      ])
    },
  )

  it('P241 an answer in another version is none', async () => {
    const { judge, webhook, errors } = setup()
    webhook.alter = (review) => ({ ...review, apiVersion: 'authentication.k8s.io/v1' })
    expect(await judge('good')).toMatchObject({ kind: 'rejected' })
    expect(errors).toHaveLength(1)
  })

  it('P241 P311 without an error there is nothing to say; with one it is a rejection', async () => {
    const { judge, webhook } = setup()
    expect(await judge('bad')).toEqual({ kind: 'noOpinion' })
    webhook.error = 'revoked'
    expect(await judge('bad')).toEqual({ kind: 'rejected', reason: 'revoked' })
  })

  it('P40 an error beside authenticated is ignored', async () => {
    const { judge, webhook } = setup()
    webhook.alter = (review) => ({ ...review, status: { ...(review.status as object), error: 'but' } })
    expect(await judge('good')).toMatchObject({ kind: 'authenticated' })
  })

  it('P241 audiences: those that both want, and those of the server for a service that knows of none', async () => {
    const { judge, webhook } = setup({ audiences: ['api'] })
    expect(await judge('good')).toMatchObject({ audiences: ['api'] })
    expect(webhook.reviews.at(-1)?.spec.audiences).toEqual(['api'])
    expect(await judge('good', ['vault'])).toEqual({ kind: 'noOpinion' })
    webhook.known.set('vault', { user: alice, audiences: ['vault', 'store'] })
    expect(await judge('vault', ['x', 'store', 'vault'])).toMatchObject({ audiences: ['store', 'vault'] })
    expect(await judge('vault')).toEqual({ kind: 'noOpinion' })
    webhook.alter = (review) => ({ ...review, status: { ...(review.status as object), audiences: ['elsewhere'] } })
    expect(await judge('good')).toEqual({ kind: 'noOpinion' })
  })

  it('asks again when the connection breaks or the service is busy, each time later, and not forever', async () => {
    const { judge, webhook, clock, errors } = setup()
    webhook.faults.next.push('reset', { status: 500 }, { status: 429, retryAfter: '3' })
    const before = clock.now()
    expect(await judge('good')).toMatchObject({ kind: 'authenticated' })
    expect(clock.now() - before).toBeGreaterThanOrEqual(500 + 750 + 3000)
    expect(errors).toEqual([])
    webhook.faults.always = { status: 500 }
    expect(await judge('good')).toMatchObject({ kind: 'rejected' })
    expect(errors).toHaveLength(1)
  })

  it('a refused connection and another status are not asked again', async () => {
    for (const fault of ['dead', { status: 403, text: 'internal-host says no' }] as const) {
      const { judge, webhook, clock } = setup()
      webhook.faults.always = fault
      const before = clock.now()
      const outcome = await judge('good')
      expect(outcome).toMatchObject({ kind: 'rejected' })
      expect(JSON.stringify(outcome)).not.toMatch(/internal-host|ECONNREFUSED|webhook.test/)
      expect(clock.now() - before).toBeLessThan(500)
    }
  })

  it('a service that does not answer is waited for ten seconds', async () => {
    const { judge, webhook, clock } = setup({ backoffMs: [] })
    webhook.faults.always = { slowMs: 60_000 }
    const before = clock.now()
    const judged = judge('good')
    for (let i = 0; i < 10; i++) {
      await new Promise(setImmediate)
      clock.advance(1000)
    }
    expect(await judged).toMatchObject({ kind: 'rejected' })
    expect(clock.now() - before).toBeGreaterThanOrEqual(10_000)
  })

  it.each([
    ['no JSON', 'x'],
    ['a list', []],
    ['no user', { status: { authenticated: true } }],
    ['an empty name', { status: { authenticated: true, user: { username: '' } } }],
    ['groups that are no texts', { status: { authenticated: true, user: { username: 'a', groups: [7] } } }],
    ['a uid that is none', { status: { authenticated: true, user: { username: 'a', uid: 7 } } }],
    ['an error that is no text', { status: { authenticated: true, error: 7, user: { username: 'a' } } }],
    ['a truth that is none', { status: { authenticated: 'true', user: { username: 'a' } } }],
  ])('an answer with %s lets nobody in', async (_, answer) => {
    const { judge, webhook } = setup()
    webhook.alter = (review) => (typeof answer === 'object' && !Array.isArray(answer) ? { ...review, ...answer } : answer)
    // No opinion would let another authenticator decide.
    expect((await judge('good')).kind).toBe('rejected')
  })

  it('a user named by hostile members is only what it says', async () => {
    const { judge, webhook } = setup()
    const text = '{"authenticated":true,"user":{"username":"a","extra":{"__proto__":["x"],"constructor":["y"]}}}'
    webhook.alter = (review) => ({ ...review, status: JSON.parse(text) as object })
    const outcome = await judge('good')
    expect(outcome.kind === 'authenticated' && Object.entries(outcome.user.extra ?? {})).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ])
  })

  it('P242 answers are kept for two minutes, failures of the service not at all', async () => {
    const { judge, webhook, clock, tokens, random } = setup()
    const cached = createCachedTokenAuthenticator(tokens, { clock, random })
    const kinds = async (token: string) => (await judge(token, undefined, cached)).kind
    expect([await kinds('good'), await kinds('good'), await kinds('bad'), await kinds('bad')]).toEqual([
      'authenticated',
      'authenticated',
      'noOpinion',
      'noOpinion',
    ])
    expect(webhook.reviews).toHaveLength(2)
    clock.advance(119_000)
    await kinds('good')
    expect(webhook.reviews).toHaveLength(2)
    clock.advance(1000)
    await kinds('good')
    await kinds('bad')
    expect(webhook.reviews).toHaveLength(4)
    clock.advance(120_000)
    webhook.faults.next.push('dead')
    expect(await kinds('good')).toBe('rejected')
    expect(await kinds('good')).toBe('authenticated')
  })
})
