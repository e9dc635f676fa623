import { createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
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
  /** Authenticates while the clock advances. */
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

describe('createWebhookTokenAuthenticator', () => {
  it.each([
    [undefined, 'v1beta1'],
    ['v1beta1', 'v1beta1'],
    ['v1', 'v1'],
  ] as const)(
    'sends a TokenReview in the configured version (%s), by default v1beta1 [P233] [P241] [P242] [P344]',
    async (version, sent) => {
      const { judge, webhook } = setup(version === undefined ? {} : { version })
      expect(await judge('good')).toEqual({ kind: 'authenticated', user: alice })
      expect(webhook.reviews).toMatchObject([
        { apiVersion: `authentication.k8s.io/${sent}`, kind: 'TokenReview', spec: { token: 'good' } },
      ])
    },
  )

  it('sends reviews without a creationTimestamp from 1.34 on', async () => {
    for (const [release, metadata] of [
      ['1.33', { creationTimestamp: null }],
      ['1.34', {}],
    ] as const) {
      const { judge, webhook } = setup({ features: createFeatures(release) })
      await judge('good')
      expect(webhook.reviews).toEqual([expect.objectContaining({ metadata })])
    }
  })

  it('rejects a response of another version [P241]', async () => {
    const { judge, webhook, errors } = setup()
    webhook.alter = (review) => ({ ...review, apiVersion: 'authentication.k8s.io/v1' })
    expect(await judge('good')).toMatchObject({ kind: 'rejected' })
    expect(errors).toHaveLength(1)
  })

  it('has no opinion on an unauthenticated token without error, and rejects one with error [P241] [P311]', async () => {
    const { judge, webhook } = setup()
    expect(await judge('bad')).toEqual({ kind: 'noOpinion' })
    webhook.error = 'revoked'
    expect(await judge('bad')).toEqual({ kind: 'rejected', reason: 'revoked', message: 'revoked' })
  })

  it('ignores an error of an authenticated token [P40]', async () => {
    const { judge, webhook } = setup()
    webhook.alter = (review) => ({ ...review, status: { ...(review.status as object), error: 'but' } })
    expect(await judge('good')).toMatchObject({ kind: 'authenticated' })
  })

  it('intersects audiences; assumes the server audiences for responses without audiences [P241]', async () => {
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

  it('retries lost connections and busy responses with backoff, a limited number of times', async () => {
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

  it('does not retry refused connections and other statuses', async () => {
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

  it('times out after ten seconds', async () => {
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
    ['groups that are not strings', { status: { authenticated: true, user: { username: 'a', groups: [7] } } }],
    ['a uid that is not a string', { status: { authenticated: true, user: { username: 'a', uid: 7 } } }],
    ['an error that is not a string', { status: { authenticated: true, error: 7, user: { username: 'a' } } }],
    ['authenticated that is not a boolean', { status: { authenticated: 'true', user: { username: 'a' } } }],
  ])('rejects a response with %s', async (_, answer) => {
    const { judge, webhook } = setup()
    webhook.alter = (review) => (typeof answer === 'object' && !Array.isArray(answer) ? { ...review, ...answer } : answer)
    // With `noOpinion` another authenticator could decide.
    expect((await judge('good')).kind).toBe('rejected')
  })

  it('treats extra keys such as `__proto__` as plain keys', async () => {
    const { judge, webhook } = setup()
    const text = '{"authenticated":true,"user":{"username":"a","extra":{"__proto__":["x"],"constructor":["y"]}}}'
    webhook.alter = (review) => ({ ...review, status: JSON.parse(text) as object })
    const outcome = await judge('good')
    expect(outcome.kind === 'authenticated' && Object.entries(outcome.user.extra ?? {})).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['y']],
    ])
  })

  it('works with the cache: outcomes last two minutes, failures are not cached [P242]', async () => {
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
