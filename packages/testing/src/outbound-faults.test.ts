import { createBearerTokenAuthenticator, createOidcAuthenticator } from '@krmkit/authentication'
import { createFakeOidcProvider } from '@krmkit/authentication/testing'
import { fakeClock } from '@krmkit/meta'
import type { WebhookRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { OutboundFaults } from './outbound-faults.ts'
import { createTestServer } from './test-server.ts'

const target = { origin: 'https://policy.example.com:443' }
const request = (signal = new AbortController().signal): WebhookRequest => ({
  method: 'POST',
  path: '/validate?timeout=10s',
  headers: {},
  body: '{}',
  signal,
  limitBytes: 1000,
})

function start() {
  const clock = fakeClock(0)
  const calls = new OutboundFaults(clock)
  const send = calls.wrap({ open: () => async () => ({ status: 200, headers: {}, body: Buffer.from('real') }) }).open(target)
  const answer = async () => {
    const { status, body } = await send(request())
    return [status, Buffer.from(body).toString()]
  }
  return { clock, calls, send, answer }
}

describe('faults of calls', () => {
  it('respond in place of the webhook, as often as planned', async () => {
    const { calls, answer } = start()
    calls.next({ fail: 500, body: 'broken' }, { url: /^https:\/\/policy\.example\.com:443\/validate/, times: 2 })
    calls.next({ body: '{' })
    const answers: unknown[] = []
    for (let i = 0; i < 4; i++) answers.push(await answer())
    expect(answers).toEqual([
      [500, 'broken'],
      [500, 'broken'],
      [200, '{'],
      [200, 'real'],
    ])
  })

  it('refuse the connection', async () => {
    const { calls, answer } = start()
    calls.next({ refused: 'connect: connection refused' }, { url: /policy/ })
    await expect(answer()).rejects.toThrow('connect: connection refused')
    calls.next({ fail: 503 }, { url: /other/ })
    expect(await answer()).toEqual([200, 'real'])
  })

  it('can exceed the timeout of the caller', async () => {
    const { calls, send, clock } = start()
    calls.next({ delayMs: 5000 })
    const abort = new AbortController()
    const sent = send(request(abort.signal))
    clock.setTimeout(() => abort.abort(new Error('deadline exceeded')), 1000)
    clock.advance(1000)
    await expect(sent).rejects.toThrow('deadline exceeded')
  })

  it('affect issuers: tokens are then rejected, or verified with cached keys', async () => {
    const clock = fakeClock(Date.UTC(2024, 0, 1))
    const calls = new OutboundFaults(clock)
    const { issuerUrl, clientId, fetch, token } = createFakeOidcProvider({ clock })
    const tokens = createOidcAuthenticator({ issuerUrl, clientId, fetch: calls.wrapFetch(fetch), clock })
    const alice = `Bearer ${token({ claims: { sub: 'alice' } })}`
    const authenticator = createBearerTokenAuthenticator(tokens)
    await using cluster = await createTestServer({ controllers: [], authenticator, clock, users: { bob: 'all' } })
    const statusOf = async (authorization: string) => {
      const request = { method: 'GET', path: '/apis/authentication.k8s.io/v1', query: '', headers: { authorization }, peer: {} }
      const signal = new AbortController().signal
      return (await cluster.handle({ ...request, signal, body: async () => new Uint8Array() })).status
    }
    calls.next({ fail: 503 }, { url: /openid-configuration/, times: 1 })
    calls.next({ body: '{' }, { url: /keys/, times: 1 })
    expect(await statusOf(alice)).toBe(401)
    clock.advance(60_000)
    expect(await statusOf(alice)).toBe(401)
    clock.advance(60_000)
    expect(await statusOf(alice)).toBe(200)
    expect(cluster.ledger.entries.map(({ user, code }) => [user, code])).toEqual([
      ['', 401],
      ['', 401],
      [`${issuerUrl}#alice`, 200],
    ])
    calls.next({ refused: 'connect: connection refused' })
    expect(await statusOf(alice)).toBe(200)
    expect(await statusOf(`Bearer ${cluster.tokenOf('bob')}`)).toBe(200)
    expect(await statusOf('Bearer invented')).toBe(401)
  })

  it('are rejected if incomplete', () => {
    expect(() => new OutboundFaults().next({ delayMs: 1 })).toThrow('delayMs needs a clock')
    expect(() => new OutboundFaults().next({} as never)).toThrow('one of fail, body, delayMs, refused')
  })
})
