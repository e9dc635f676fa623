import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { ApiRequest, ApiResponse, ProxyTarget } from '@krmkit/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { createProxyTransport } from './proxy-transport.ts'
import { selfSigned } from './self-signed.ts'
import { Feed, streamResponse, textResponse, withErrorResponses } from './testing/fake-server.ts'

let directory: string
let server: Listener | undefined
const proxies = createProxyTransport()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-proxy-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterAll(() => proxies[Symbol.dispose]())
afterEach(async () => {
  await server?.close({ graceMs: 50 })
  server = undefined
})

async function start(handle: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>): Promise<ProxyTarget> {
  server = await listen({ handle: withErrorResponses(handle) }, { tls: selfSigned(directory) })
  return { origin: server.url, ca: server.authority! }
}

const request = {
  method: 'GET',
  path: '/apis/a/v1?x=1',
  headers: {},
  signal: new AbortController().signal,
}

async function textOf({ body }: ApiResponse): Promise<string> {
  let all = ''
  if (body.kind === 'stream') for await (const piece of body.stream) all += new TextDecoder().decode(piece)
  return all
}

it('forwards method, path, headers and body and returns the response', async () => {
  const target = await start(async (given) => {
    const { method, path, query, headers } = given
    const body = new TextDecoder().decode(await given.body(1000))
    return textResponse(`${method} ${path}?${query} ${headers['x-remote-user']} ${body}`, { status: 202 })
  })
  const { send } = proxies.open(target)
  const answer = await send({
    ...request,
    method: 'POST',
    headers: { 'x-remote-user': 'alice' },
    body: new TextEncoder().encode('hi'),
  })
  expect(answer.status).toBe(202)
  expect(answer.headers['content-type']).toBe('text/plain')
  expect(await textOf(answer)).toBe('POST /apis/a/v1?x=1 alice hi')
})

it('streams the response and ends the request when the reader returns', async () => {
  const feed = new Feed()
  const target = await start(() => streamResponse(feed))
  const { body } = await proxies.open(target).send(request)
  feed.push('one\n')
  const seen: string[] = []
  if (body.kind === 'stream') {
    for await (const piece of body.stream) {
      seen.push(new TextDecoder().decode(piece))
      break
    }
  }
  expect(seen).toEqual(['one\n'])
})

it('ends the request when the reader returns during a wait', async () => {
  let gone: Promise<void> | undefined
  const target = await start(({ signal }) => {
    gone = new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    return streamResponse(new Feed())
  })
  const { body } = await proxies.open(target).send(request)
  if (body.kind !== 'stream') throw new Error(body.kind)
  const iterator = body.stream[Symbol.asyncIterator]()
  const next = iterator.next().catch(() => undefined)
  await iterator.return?.()
  await Promise.all([gone, next])
})

it('trusts the given authorities, or any certificate with insecure', async () => {
  const { origin } = await start(() => textResponse('ok'))
  await expect(proxies.open({ origin }).send(request)).rejects.toThrow('certificate')
  expect(await textOf(await proxies.open({ origin, insecure: true }).send(request))).toBe('ok')
  expect(() => proxies.open({ origin, ca: 'nothing' })).toThrow('unable to load root certificates')
})

it('connects to the resolved address', async () => {
  const target = await start(() => textResponse('found'))
  const resolve = async () => ({ host: '127.0.0.1', port: server!.port })
  const { send } = proxies.open({ ...target, origin: 'https://metrics.shop.svc:443', serverName: 'localhost', resolve })
  expect(await textOf(await send(request))).toBe('found')
  const { send: lost } = proxies.open({ ...target, resolve: () => Promise.reject(new Error('service "metrics" not found')) })
  await expect(lost(request)).rejects.toThrow('service "metrics" not found')
})

describe('forwarding', () => {
  it('streams a body at the pace of the other server', async () => {
    const target = await start(async (given) => {
      let length = 0
      for await (const piece of given.stream!()) length += piece.byteLength
      return textResponse(`${given.headers['transfer-encoding'] ?? given.headers['content-length']} ${length}`)
    })
    async function* pieces() {
      for (let i = 0; i < 50; i++) yield new Uint8Array(100_000)
    }
    const answer = await proxies.open(target).send({ ...request, method: 'POST', body: pieces() })
    expect(await textOf(answer)).toBe('chunked 5000000')
    const whole = await proxies.open(target).send({ ...request, method: 'POST', body: new Uint8Array(7) })
    expect(await textOf(whole)).toBe('7 7')
  })

  it('keeps non-ASCII headers in both directions', async () => {
    const target = await start((given) => textResponse('', { headers: { 'x-seen': String(given.headers['x-remote-user']) } }))
    const { headers } = await proxies.open(target).send({ ...request, headers: { 'x-remote-user': 'Zoë 東京' } })
    expect(headers['x-seen']).toBe('Zoë 東京')
  })

  it('returns redirections without following them', async () => {
    const target = await start(() => textResponse('', { status: 302, headers: { location: 'https://elsewhere.example.com/' } }))
    const answer = await proxies.open(target).send(request)
    expect(answer).toMatchObject({ status: 302, headers: { location: 'https://elsewhere.example.com/' } })
    expect(await textOf(answer)).toBe('')
  })

  it('rejects with the reason of an abort', async () => {
    const target = await start(() => new Promise<ApiResponse>(() => undefined))
    const late = new AbortController()
    const sent = proxies.open(target).send({ ...request, signal: late.signal })
    late.abort(new Error('context deadline exceeded'))
    await expect(sent).rejects.toThrow('context deadline exceeded')
    const left = new AbortController()
    const other = proxies.open(target).send({ ...request, signal: left.signal })
    left.abort()
    await expect(other).rejects.toThrow('context canceled')
  })

  it('forwards an upgrade when the other server accepts it', async () => {
    const target = await start((given) => ({
      status: 101,
      headers: { connection: 'Upgrade', upgrade: String(given.headers.upgrade) },
      body: { kind: 'connection', connection: new PassThrough() },
    }))
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    const { status, body, headers: answered } = await proxies.open(target).send({ ...request, headers, upgrade: true })
    expect(status).toBe(101)
    expect(answered.upgrade).toBe('websocket')
    if (body.kind !== 'connection') throw new Error(body.kind)
    const { connection } = body
    connection.write('ping')
    expect(String((await once(connection, 'data'))[0])).toBe('ping')
    connection.destroy()
  })

  it('a closed connection completes requests in flight and reopens for new ones', async () => {
    const target = await start(() => textResponse('ok'))
    const opened = proxies.open(target)
    expect(await textOf(await opened.send(request))).toBe('ok')
    opened.close()
    expect(await textOf(await opened.send(request))).toBe('ok')
  })
})
