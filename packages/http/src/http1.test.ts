import { request as httpRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { Feed, type RawClient, streamResponse, textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start, dial, server } = usePlainServer()
const seen = async (head: string): Promise<ApiRequest> => {
  let request: ApiRequest | undefined
  await start((incoming) => {
    request = incoming
    return textResponse('seen')
  })
  await dial().send(head).until('seen')
  return request!
}

describe('HTTP/1.1 request', () => {
  it('keeps path and query unchanged', async () => {
    const request = await seen('GET //api/../v1/%2e%2E/a%2Fb;x=%zz?limit=1&a=%20b?c=d HTTP/1.1\r\nHost: h\r\n\r\n')
    expect(request).toMatchObject({ method: 'GET', path: '//api/../v1/%2e%2E/a%2Fb;x=%zz', query: 'limit=1&a=%20b?c=d' })
  })

  it('removes scheme and authority of an absolute target', async () => {
    expect(await seen('GET http://other:80/api/v1?x HTTP/1.1\r\nHost: h\r\n\r\n')).toMatchObject({ path: '/api/v1', query: 'x' })
  })

  it('keeps repeated headers apart and lowers names', async () => {
    const { headers } = await seen(
      'GET / HTTP/1.1\r\nHost: h\r\nImpersonate-Group: a, b\r\nIMPERSONATE-group: c\r\nimpersonate-group: d\r\n__proto__: x\r\nX-Name: gr\xc3\xbcn\r\n\r\n',
    )
    expect({ ...headers }).toEqual({ host: 'h', 'impersonate-group': ['a, b', 'c', 'd'], ['__proto__']: 'x', 'x-name': 'grün' })
  })

  it('has the client address and no certificates', async () => {
    expect((await seen('GET / HTTP/1.1\r\nHost: h\r\n\r\n')).peer).toEqual({ address: '127.0.0.1' })
  })
})

describe('HTTP/1.1 header fields', () => {
  it.each([150, 1000, 5000])('are all received, with %i of one name', async (count) => {
    const groups = Array.from({ length: count }, (_, i) => `group-${i}`)
    const lines = groups.map((group) => `Impersonate-Group: ${group}\r\n`)
    const request = await seen(`GET / HTTP/1.1\r\nHost: h\r\n${lines.join('')}Last: 1\r\n\r\n`)
    expect(request.headers['impersonate-group']).toEqual(groups)
    expect(request.headers.last).toBe('1')
  })

  it('are trimmed, as HTTP/1.1 requires', async () => {
    expect((await seen('GET / HTTP/1.1\r\nHost: h\r\nX: \t a b\t \r\n\r\n')).headers.x).toBe('a b')
  })
})

describe('HTTP/1.1 response', () => {
  const get = (client: RawClient, options: { method?: string; headers?: string; path?: string } = {}) =>
    client.send(`${options.method ?? 'GET'} ${options.path ?? '/'} HTTP/1.1\r\nHost: h\r\n${options.headers ?? ''}\r\n`)

  it('carries status, headers and length', async () => {
    await start(() => ({
      status: 418,
      headers: { 'x-one': '1', warning: ['299 - "a"', '299 - "grün"'] },
      body: { kind: 'list', parts: [Buffer.from('ab'), Buffer.from('c')], length: 3 },
    }))
    const answer = await get(dial()).until('abc')
    expect(answer).toContain('HTTP/1.1 418 ')
    expect(answer).toContain('x-one: 1\r\nwarning: 299 - "a"\r\nwarning: 299 - "gr\xc3\xbcn"\r\ncontent-length: 3\r\n')
  })

  it('has no body for HEAD, 204 and 304', async () => {
    const feed = new Feed()
    await start((request) =>
      request.path === '/stream'
        ? streamResponse(feed)
        : request.path === '/304'
          ? { status: 304, headers: {}, body: { kind: 'empty' } }
          : textResponse('body'),
    )
    const client = dial()
    expect(await get(client, { method: 'HEAD' }).until('\r\n\r\n')).toMatch(/content-length: 4\r\n(?:.*\r\n)*\r\n$/)
    client.received = ''
    expect(await get(client, { path: '/304' }).until('\r\n\r\n')).not.toContain('content-length')
    client.received = ''
    await get(client, { method: 'HEAD', path: '/stream' }).until('\r\n\r\n')
    await feed.released
    client.received = ''
    await get(client).until('body')
  })

  it('sends a large list completely', async () => {
    const parts = Array.from({ length: 3000 }, (_, i) => Buffer.from(String(i).padStart(300, '.')))
    await start(() => ({ status: 200, headers: {}, body: { kind: 'list', parts, length: 900_000 } }))
    expect(Buffer.compare(await fetchBytes(server().url), Buffer.concat(parts))).toBe(0)
  })

  it.each([['bytes' as const], ['list' as const]])('compresses large %s for clients that accept gzip', async (kind) => {
    const whole = Buffer.alloc(200_000, 'krm')
    const body =
      kind === 'bytes' ? { kind, bytes: whole } : { kind, parts: [whole.subarray(0, 7), whole.subarray(7)], length: whole.length }
    await start(() => ({ status: 200, headers: { vary: 'Accept' }, body }))
    const headers: Record<string, unknown> = {}
    const sent = await fetchBytes(server().url, { 'accept-encoding': 'deflate, gzip' }, headers)
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' })
    expect(sent.length).toBeLessThan(20_000)
    expect(gunzipSync(sent).equals(whole)).toBe(true)
    expect((await fetchBytes(server().url, { 'accept-encoding': 'gzip;q=0' })).equals(whole)).toBe(true)
  })

  it('compresses nothing with compression off', async () => {
    await start(() => textResponse('k'.repeat(200_000)), { compression: false })
    expect(await fetchBytes(server().url, { 'accept-encoding': 'gzip' })).toHaveLength(200_000)
  })

  it('is a 500 when the handler throws', async () => {
    const faults: unknown[] = []
    await start(
      () => {
        throw new Error('broken')
      },
      { onError: (error) => faults.push(error) },
    )
    expect(await get(dial()).until('"InternalError"')).toContain('HTTP/1.1 500 ')
    expect(faults).toHaveLength(1)
  })

  it('is missing when the handler aborts: the connection closes', async () => {
    const errors: unknown[] = []
    await start(() => Promise.reject(new DOMException('dropped', 'AbortError')), { onError: (error) => errors.push(error) })
    const client = get(dial())
    await client.closed
    expect(client.received).toBe('')
    expect(errors).toEqual([])
  })

  it('has sanitized header values and omits invalid names', async () => {
    const headers = { 'x-bad': 'a\r\nInjected: \0\x7f\u2028\u{1f600}\t', 'x bad': 'b', '': 'c', 'gr\u00fcn': 'd' }
    await start(() => textResponse('fine', { headers }))
    const answer = await get(dial()).until('fine')
    expect(answer).toContain('HTTP/1.1 200 ')
    expect(answer).toContain('x-bad: a  Injected:   \xe2\x80\xa8\xf0\x9f\x98\x80\r\n')
    expect(answer).not.toMatch(/x bad|gr.*n:|^:/m)
  })
})

describe('HTTP/1.1 stream', () => {
  it('sends the pieces of one event-loop turn as one chunk', async () => {
    const feed = new Feed()
    await start(() => streamResponse(feed))
    const client = dial().send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.until('\r\n\r\n')
    client.received = ''
    feed.push('one\n', 'two\n', 'three\n')
    expect(await client.until('three')).toBe('e\r\none\ntwo\nthree\n\r\n')
    feed.push('four\n')
    await client.until('5\r\nfour\n\r\n')
    feed.end()
    await client.until(/0\r\n\r\n$/)
    // The connection serves the next request.
    client.received = ''
    await client.send('HEAD / HTTP/1.1\r\nHost: h\r\n\r\n').until('200 OK')
  })

  it('shares the bytes between watchers', async () => {
    const feeds = Array.from({ length: 20 }, () => new Feed())
    let next = 0
    await start(() => streamResponse(feeds[next++]!))
    const watchers = feeds.map(() => dial().send('GET / HTTP/1.1\r\nHost: h\r\n\r\n'))
    await Promise.all(watchers.map((watcher) => watcher.until('\r\n\r\n')))
    const shared = [Buffer.from('a'.repeat(100)), Buffer.from('b'.repeat(200))]
    for (const feed of feeds) feed.push(...shared)
    for (const watcher of watchers) expect(await watcher.until('b\r\n')).toMatch(/\r\n\r\n12c\r\na{100}b{200}\r\n$/)
  })

  it('cancels its source and aborts the signal when the client disconnects', async () => {
    const feed = new Feed()
    let request: ApiRequest | undefined
    await start((incoming) => {
      request = incoming
      return streamResponse(feed)
    })
    const client = dial().send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.until('\r\n\r\n')
    const aborted = new Promise((resolve) => request!.signal.addEventListener('abort', resolve))
    client.socket.destroy()
    await feed.released
    await aborted
  })

  it('pulls no faster than the client reads', async () => {
    const feed = new Feed()
    const piece = Buffer.alloc(64 * 1024, 'x')
    const total = 2000
    for (let i = 0; i < total; i++) feed.push(piece)
    feed.end()
    await start(() => streamResponse(feed))
    const client = dial()
    client.socket.pause()
    client.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    let before = -1
    while (before !== feed.pulled || feed.pulled === 0) {
      before = feed.pulled
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(feed.pulled).toBeLessThan(total / 2)
    client.received = ''
    let bytes = 0
    client.socket.removeAllListeners('data')
    client.socket.on('data', (chunk) => {
      bytes += chunk.length
      client.received = String(chunk).slice(-10)
    })
    client.socket.resume()
    while (!client.received.endsWith('0\r\n\r\n')) await new Promise((resolve) => client.socket.once('data', resolve))
    expect(bytes).toBeGreaterThan(total * piece.length)
  })

  it('that fails interrupts the response', async () => {
    const faults: unknown[] = []
    const feed = new Feed()
    await start(() => streamResponse(feed), { onError: (error) => faults.push(error) })
    const client = dial().send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    feed.push('part')
    await client.until('part')
    feed.end(new Error('broken'))
    await client.closed
    expect(client.received).not.toContain('0\r\n\r\n')
    expect(faults).toEqual([new Error('broken')])
  })

  it('is sent to an HTTP/1.0 client without chunked encoding', async () => {
    const feed = new Feed()
    await start(() => streamResponse(feed))
    const client = dial().send('GET / HTTP/1.0\r\n\r\n')
    feed.push('one\n', 'two\n')
    feed.end()
    await client.closed
    expect(client.received).toMatch(/\r\n\r\none\ntwo\n$/)
  })

  it('waits for the previous response of pipelined requests', async () => {
    const feed = new Feed()
    feed.push('streamed')
    feed.end()
    let release: (() => void) | undefined
    await start((request) =>
      request.path === '/slow'
        ? new Promise((resolve) => {
            release = () => resolve(textResponse('slow'))
          })
        : streamResponse(feed),
    )
    const client = dial().send('GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /stream HTTP/1.1\r\nHost: h\r\n\r\n')
    while (feed.pulled === 0) await new Promise((resolve) => setImmediate(resolve))
    release!()
    expect(await client.until(/0\r\n\r\n$/)).toMatch(/slow[\s\S]*8\r\nstreamed\r\n0\r\n\r\n$/)
  })
})

function fetchBytes(url: string, headers: Record<string, string> = {}, received: Record<string, unknown> = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers }, (response) => {
      Object.assign(received, response.headers)
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
    })
      .on('error', reject)
      .end()
  })
}
