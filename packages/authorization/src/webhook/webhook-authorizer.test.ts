import type { Fetch } from '@krmkit/base/fetch'
import { createFeatures, fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { attributesOf, pathAttributesOf } from '../testing/samples.fixture.ts'
import { createWebhookAuthorizer, type WebhookAuthorizerOptions } from './webhook-authorizer.ts'

type Reply = { status?: number; body?: unknown; retryAfter?: string } | Error

/** A webhook that returns these replies in turn, repeating the last one, and records the reviews. */
function service(replies: readonly Reply[], options: Partial<WebhookAuthorizerOptions> = {}) {
  const sentReviews: { apiVersion: string; metadata: object; spec: Record<string, unknown> }[] = []
  const errors: unknown[] = []
  const clock = fakeClock(0)
  const fetch: Fetch = async (_, { body }) => {
    const reply = replies[Math.min(sentReviews.length, replies.length - 1)]!
    sentReviews.push(JSON.parse(body ?? ''))
    if (reply instanceof Error) throw reply
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {})
    const bytes = async function* () {
      yield new TextEncoder().encode(text)
    }
    const headers = { get: (name: string) => (name === 'retry-after' ? (reply.retryAfter ?? null) : null) }
    return { status: reply.status ?? 200, headers, body: bytes() }
  }
  const authorizer = createWebhookAuthorizer({
    url: 'https://rights.example/review',
    fetch,
    clock,
    random: seededRandom(1),
    onError: (error) => errors.push(error),
    backoffMs: [],
    ...options,
  })
  return { authorizer, sentReviews, errors, clock }
}

const review = (status: object, version = 'v1beta1') => ({
  body: { apiVersion: `authorization.k8s.io/${version}`, kind: 'SubjectAccessReview', status },
})
const get = attributesOf('get', 'pods/log', {
  namespace: 'ns',
  name: 'a',
  user: { username: 'jane', uid: '7', groups: ['dev'], extra: { scopes: ['x'] } },
})

describe('createWebhookAuthorizer', () => {
  it.each([
    [
      { allowed: true, reason: 'yes' },
      { decision: 'allow', reason: 'yes' },
    ],
    [
      { allowed: false, reason: 'not mine' },
      { decision: 'noOpinion', reason: 'not mine' },
    ],
    [
      { allowed: false, denied: true, reason: 'no' },
      { decision: 'deny', reason: 'no' },
    ],
    [
      { allowed: true, denied: true },
      { decision: 'deny', error: 'webhook subject access review returned both allow and deny response' },
    ],
    [
      { allowed: false, evaluationError: 'half of it' },
      { decision: 'noOpinion', error: 'half of it' },
    ],
  ])('maps the status %j to %j', async (status, decision) => {
    expect(await service([review(status)]).authorizer.authorize(get)).toMatchObject({
      ...decision,
      trace: { authorizer: 'Webhook' },
    })
  })

  it('sends v1beta1 reviews with the groups in group', async () => {
    const { authorizer, sentReviews } = service([review({ allowed: true })])
    await authorizer.authorize(get)
    expect(sentReviews[0]).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1beta1',
      kind: 'SubjectAccessReview',
      spec: {
        resourceAttributes: { namespace: 'ns', verb: 'get', version: 'v1', resource: 'pods', subresource: 'log', name: 'a' },
        user: 'jane',
        group: ['dev'],
        uid: '7',
        extra: { scopes: ['x'] },
      },
    })
  })

  it('sends reviews without a creationTimestamp from 1.34 on', async () => {
    for (const [release, metadata] of [
      ['1.33', { creationTimestamp: null }],
      ['1.34', {}],
    ] as const) {
      const { authorizer, sentReviews } = service([review({ allowed: true })], { features: createFeatures(release) })
      await authorizer.authorize(get)
      expect(sentReviews).toMatchObject([{ metadata }])
      expect(Object.keys(sentReviews[0]?.metadata ?? {})).toEqual(Object.keys(metadata))
    }
  })

  it('sends v1 reviews with the groups in groups [P340]', async () => {
    const { authorizer, sentReviews } = service([review({ allowed: true }, 'v1')], { version: 'v1' })
    expect(await authorizer.authorize(pathAttributesOf('get', '/metrics', { user: get.user }))).toMatchObject({
      decision: 'allow',
    })
    const { spec } = sentReviews[0]!
    expect(spec).toEqual({
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
      user: 'jane',
      groups: ['dev'],
      uid: '7',
      extra: { scopes: ['x'] },
    })
  })

  it('sends selector requirements', async () => {
    const { authorizer, sentReviews } = service([review({ allowed: true })])
    const fieldSelector = [{ field: 'spec.nodeName', operator: '=' as const, value: 'n1' }]
    const labelSelector = [{ key: 'app', operator: 'In', values: ['a'] }]
    await authorizer.authorize(attributesOf('list', 'pods', { fieldSelector, labelSelector }))
    expect(sentReviews[0]?.spec['resourceAttributes']).toMatchObject({
      fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] },
      labelSelector: { requirements: labelSelector },
    })
  })

  it('caches allow for five minutes and other decisions for 30 seconds, by the whole review', async () => {
    const { authorizer, sentReviews, clock } = service([review({ allowed: true })])
    const times = async (n: number) => {
      for (let i = 0; i < n; i++) await authorizer.authorize(get)
      return sentReviews.length
    }
    expect(await times(3)).toBe(1)
    await authorizer.authorize({ ...get, name: 'b' })
    await authorizer.authorize({ ...get, user: { ...get.user, groups: ['ops'] } })
    expect(sentReviews).toHaveLength(3)
    clock.advance(299_999)
    expect(await times(1)).toBe(3)
    clock.advance(1)
    expect(await times(2)).toBe(4)
    const no = service([review({ allowed: false })])
    await no.authorizer.authorize(get)
    no.clock.advance(29_999)
    await no.authorizer.authorize(get)
    expect(no.sentReviews).toHaveLength(1)
    no.clock.advance(1)
    await no.authorizer.authorize(get)
    expect(no.sentReviews).toHaveLength(2)
  })

  it('does not cache long attributes', async () => {
    const { authorizer, sentReviews } = service([review({ allowed: true })])
    for (let i = 0; i < 2; i++) await authorizer.authorize(pathAttributesOf('get', `/${'x'.repeat(10_000)}`))
    expect(sentReviews).toHaveLength(2)
  })

  it.each<[string, Reply]>([
    ['a failure', { status: 503 }],
    ['a redirect', { status: 302 }],
    ['no JSON', { body: '<html>' }],
    ['another kind', { body: { apiVersion: 'v1', kind: 'Status' } }],
    ['another version', review({ allowed: true }, 'v1')],
    ['no status', { body: { apiVersion: 'authorization.k8s.io/v1beta1', kind: 'SubjectAccessReview' } }],
    ['denied that is not a boolean', review({ allowed: false, denied: 'true' })],
    ['a reason that is not a string', review({ allowed: true, reason: {} })],
    ['allowed that is not a boolean', review({ allowed: 'true' })],
    ['more than 1 MiB', { body: ' '.repeat(1024 * 1024 + 1) }],
    ['no connection', new Error('refused')],
  ])('has no opinion after %s, does not cache it, and leaks no details', async (_, reply) => {
    const { authorizer, sentReviews, errors } = service([reply, review({ allowed: true })])
    expect(await authorizer.authorize(get)).toEqual({
      decision: 'noOpinion',
      reason: '',
      error: 'the authorization webhook returned no usable response',
      trace: { authorizer: 'Webhook' },
    })
    expect(errors).toHaveLength(1)
    expect((await authorizer.authorize(get)).decision).toBe('allow')
    expect(sentReviews).toHaveLength(2)
  })

  it('denies on failure when configured to', async () => {
    const { authorizer } = service([new Error('refused')], { onFailure: 'deny' })
    expect((await authorizer.authorize(get)).decision).toBe('deny')
  })

  it('records every attempt, and failures that are left to the next authorizer', async () => {
    const recorded: unknown[] = []
    const metrics: WebhookAuthorizerOptions['metrics'] = {
      evaluated: (name, { result, seconds }) => recorded.push([name, result, seconds]),
      failedOpen: (name, result) => recorded.push([name, 'failed open', result]),
    }
    const made = service([review({ allowed: true }), { status: 504 }, { body: 'no review' }], { metrics, authorizedMs: 0 })
    for (const name of ['a', 'b', 'c']) await made.authorizer.authorize({ ...get, name })
    expect(recorded.splice(0)).toEqual([
      ['default', 'success', 0],
      ['default', 'timeout', 0],
      ['default', 'failed open', 'timeout'],
      ['default', 'error', 0],
      ['default', 'failed open', 'error'],
    ])
    const clock = fakeClock(0)
    const hanging = { clock, timeoutMs: 1000, fetch: () => new Promise<never>(() => undefined), onFailure: 'deny' as const }
    const { authorizer } = service([], { ...hanging, metrics, name: 'hook' })
    const decision = authorizer.authorize(get)
    clock.advance(1000)
    await decision
    expect(recorded).toEqual([['hook', 'timeout', 1]])
  })

  it('retries a busy webhook after Retry-After', async () => {
    const { authorizer, sentReviews, clock } = service(
      [{ status: 429, retryAfter: '3' }, { status: 500 }, review({ allowed: true })],
      {
        backoffMs: [500, 500],
      },
    )
    const answer = authorizer.authorize(get)
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(400)
    }
    expect((await answer).decision).toBe('allow')
    expect(sentReviews).toHaveLength(3)
  })

  it('times out', async () => {
    const clock = fakeClock(0)
    const { authorizer } = service([], { clock, timeoutMs: 1000, fetch: () => new Promise(() => undefined) })
    const answer = authorizer.authorize(get)
    clock.advance(1000)
    expect((await answer).decision).toBe('noOpinion')
  })

  it('reports that it cannot list rules', async () => {
    expect(await service([]).authorizer.rulesFor?.(get.user, 'ns')).toMatchObject({ incomplete: true })
  })
})
