import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { createFetchHandler } from './fetch-handler.ts'
import { Feed, streamResponse, textResponse, withErrorResponses } from './testing/fake-server.ts'

type Answering = Parameters<typeof withErrorResponses>[0]
const served = (handle: Answering) => ({ handle: withErrorResponses(handle) })

describe('createFetchHandler', () => {
  it('passes method, target, headers and body to the handler', async () => {
    let request: ApiRequest | undefined
    const handler = createFetchHandler(
      served(async (incoming) => {
        request = incoming
        return textResponse(Buffer.from(await incoming.body(100)).toString(), { status: 201, headers: { 'x-one': '1' } })
      }),
      { peer: () => ({ address: '10.0.0.1' }), user: () => ({ username: 'alice', groups: [] }) },
    )
    const response = await handler(
      new Request('http://host/api/v1/a%2Fb?limit=1#part', { method: 'POST', body: 'payload', headers: { Accept: 'x' } }),
    )
    expect(response.status).toBe(201)
    expect(response.headers.get('x-one')).toBe('1')
    expect(await response.text()).toBe('payload')
    expect(request).toMatchObject({
      method: 'POST',
      path: '/api/v1/a%2Fb',
      query: 'limit=1',
      peer: { address: '10.0.0.1' },
      user: { username: 'alice' },
    })
    expect(request!.headers.accept).toBe('x')
  })

  it.each([
    ['body', async ({ body }: ApiRequest) => Buffer.from(await body(100)).toString()],
    [
      'stream',
      async ({ stream }: ApiRequest) => {
        const chunks: Uint8Array[] = []
        for await (const chunk of stream?.() ?? []) chunks.push(chunk)
        return Buffer.concat(chunks).toString()
      },
    ],
  ])('reads the %s of requests in Firefox, which have no member body', async (_, read) => {
    const handler = createFetchHandler(served(async (incoming) => textResponse(await read(incoming))))
    const send = (init: RequestInit) =>
      handler(Object.defineProperty(new Request('http://host/a', { method: 'POST', ...init }), 'body', { value: undefined }))
    expect(await (await send({ body: 'payload' })).text()).toBe('payload')
    expect(await (await send({})).text()).toBe('')
  })

  it('decodes headers as UTF-8, sets headersJoined, and sanitizes response headers', async () => {
    let request: ApiRequest | undefined
    const handler = createFetchHandler(
      served((incoming) => {
        request = incoming
        return textResponse('fine', { headers: { 'x-bad': 'a\nb', 'x bad': 'c' } })
      }),
    )
    const headers = new Headers([
      ['x', 'gr\xc3\xbcn'],
      ['x', 'b'],
    ])
    const response = await handler(new Request('http://host/', { headers }))
    expect([response.status, response.headers.get('x-bad')]).toEqual([200, 'a b'])
    expect([request!.headers.x, request!.headersJoined]).toEqual(['gr\u00fcn, b', true])
  })

  it('streams request bodies', async () => {
    const handler = createFetchHandler(
      served(async (request) => {
        let all = ''
        for await (const piece of request.stream!()) all += Buffer.from(piece).toString()
        return textResponse(`got ${all}`)
      }),
    )
    expect(await (await handler(new Request('http://host/a', { method: 'POST', body: 'payload' }))).text()).toBe('got payload')
    expect(await (await handler(new Request('http://host/a'))).text()).toBe('got ')
  })

  it('rejects bodies above the limit', async () => {
    const handler = createFetchHandler(served(async (request) => textResponse(`${(await request.body(3)).length}`)))
    const post = (body: string) => handler(new Request('http://host/', { method: 'POST', body }))
    expect((await post('1234')).status).toBe(413)
    expect(await (await post('123')).text()).toBe('3')
    expect(await (await handler(new Request('http://host/'))).text()).toBe('0')
  })

  it('responds with bytes, lists, empty bodies and to HEAD', async () => {
    const feed = new Feed()
    const handler = createFetchHandler(
      served(({ path }) => {
        if (path === '/list')
          return { status: 200, headers: {}, body: { kind: 'list', parts: [Buffer.from('ab'), Buffer.from('c')], length: 3 } }
        if (path === '/none') return { status: 204, headers: {}, body: { kind: 'empty' } }
        return path === '/stream'
          ? streamResponse(feed)
          : { status: 200, headers: { warning: ['a', 'b'] }, body: { kind: 'bytes', bytes: Buffer.from('x') } }
      }),
    )
    const get = (path: string, method = 'GET') => handler(new Request(`http://host${path}`, { method }))
    expect(await (await get('/list')).text()).toBe('abc')
    expect((await get('/none')).body).toBeNull()
    expect((await get('/bytes')).headers.get('warning')).toBe('a, b')
    expect((await get('/stream', 'HEAD')).body).toBeNull()
    await feed.released
  })

  it('streams chunk by chunk until the reader cancels', async () => {
    const feed = new Feed()
    const response = await createFetchHandler(served(() => streamResponse(feed)))(new Request('http://host/'))
    const reader = response.body!.getReader()
    feed.push('one', 'two')
    expect(String(Buffer.from((await reader.read()).value!))).toBe('one')
    expect(feed.pulled).toBe(1)
    expect(String(Buffer.from((await reader.read()).value!))).toBe('two')
    await reader.cancel()
    await feed.released
  })

  it('ends a stream when its source ends', async () => {
    const feed = new Feed()
    feed.push('all')
    feed.end()
    expect(await (await createFetchHandler(served(() => streamResponse(feed)))(new Request('http://host/'))).text()).toBe('all')
  })

  it('passes the abort signal of the request', async () => {
    const abort = new AbortController()
    let signal: AbortSignal | undefined
    const handler = createFetchHandler(
      served((request) => {
        signal = request.signal
        return textResponse('x')
      }),
    )
    await handler(new Request('http://host/', { signal: abort.signal }))
    expect(signal!.aborted).toBe(false)
    abort.abort()
    expect(signal!.aborted).toBe(true)
  })
})
