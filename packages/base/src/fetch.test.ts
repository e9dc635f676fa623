import { fakeClock, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type Fetch, type FetchResponse, postWithRetry, sendRequest } from './fetch.ts'

const response = (status: number, text = '', retryAfter: string | null = null): FetchResponse => ({
  status,
  headers: { get: (name) => (name === 'retry-after' ? retryAfter : null) },
  body: (async function* () {
    yield new TextEncoder().encode(text)
  })(),
})

describe('sendRequest', () => {
  it('reads the whole response', async () => {
    const fetch: Fetch = async () => response(503, 'busy', '7')
    const options = { clock: fakeClock(0), timeoutMs: 1000 }
    expect(await sendRequest(fetch, { url: 'https://a.test' }, options)).toEqual({
      status: 503,
      text: 'busy',
      retryAfterSeconds: 7,
    })
  })

  it('returns redirects unfollowed, in a mode that every runtime supports', async () => {
    const fetch: Fetch = async (_, { redirect }) => response(redirect === 'manual' ? 302 : 0)
    const options = { clock: fakeClock(0), timeoutMs: 1000 }
    expect(await sendRequest(fetch, { url: 'https://a.test' }, options)).toMatchObject({ status: 302 })
  })

  it('rejects responses above 1 MiB', async () => {
    const fetch: Fetch = async () => response(200, 'x'.repeat(1024 * 1024 + 1))
    const sent = sendRequest(fetch, { url: 'https://a.test' }, { clock: fakeClock(0), timeoutMs: 1000 })
    await expect(sent).rejects.toThrow('too long')
  })

  it('enforces the deadline when fetch ignores its signal', async () => {
    const clock = fakeClock(0)
    const sent = sendRequest(() => new Promise(() => undefined), { url: 'https://a.test' }, { clock, timeoutMs: 1000 })
    const refused = expect(sent).rejects.toThrow('no response within 1000 ms')
    clock.advance(1000)
    await refused
  })
})

describe('postWithRetry', () => {
  const post = async (replies: readonly (FetchResponse | Error)[]) => {
    const clock = fakeClock(0)
    let calls = 0
    const fetch: Fetch = async () => {
      const reply = replies[Math.min(calls++, replies.length - 1)]!
      if (reply instanceof Error) throw reply
      return reply
    }
    const options = { url: 'https://a.test', fetch, clock, random: seededRandom(1), timeoutMs: 1000, backoffMs: [10, 20] }
    const posted = postWithRetry('{}', options).then(
      ({ status }) => status,
      (error: Error) => error.message,
    )
    for (let i = 0; i < 50; i++) {
      await Promise.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(1000)
    }
    return { result: await posted, calls }
  }

  it('retries busy responses and lost connections', async () => {
    const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET' })
    expect(await post([response(429), lost, response(200)])).toEqual({ result: 200, calls: 3 })
  })

  it('returns the last response when retries are exhausted', async () => {
    expect(await post([response(500), response(500), response(500), response(200)])).toEqual({ result: 500, calls: 3 })
  })

  it('does not retry other statuses and errors', async () => {
    expect(await post([response(403), response(200)])).toEqual({ result: 403, calls: 1 })
    expect(await post([new Error('refused'), response(200)])).toEqual({ result: 'refused', calls: 1 })
  })
})
