import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { ApiRequest, ApiResponse, ProxyTarget } from '@krmkit/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Listening } from './interfaces.ts'
import { listen } from './listen.ts'
import { proxyTransport } from './proxy-transport.ts'
import { selfSigned } from './self-signed.ts'
import { answering, Feed, streaming, text } from './testing/fake-server.ts'

let directory: string
let server: Listening | undefined
const proxies = proxyTransport()
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
  server = await listen({ handle: answering(handle) }, { tls: selfSigned(directory) })
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

it('passes on method, path, headers and body, and brings the answer back', async () => {
  const target = await start(async (given) => {
    const { method, path, query, headers } = given
    const body = new TextDecoder().decode(await given.body(1000))
    return text(`${method} ${path}?${query} ${headers['x-remote-user']} ${body}`, { status: 202 })
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

it('hands on what comes piece by piece, and ends the request of whoever leaves', async () => {
  const feed = new Feed()
  const target = await start(() => streaming(feed))
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

it('ends the request of whoever leaves while nothing comes', async () => {
  let gone: Promise<void> | undefined
  const target = await start(({ signal }) => {
    gone = new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    return streaming(new Feed())
  })
  const { body } = await proxies.open(target).send(request)
  if (body.kind !== 'stream') throw new Error(body.kind)
  const iterator = body.stream[Symbol.asyncIterator]()
  const next = iterator.next().catch(() => undefined)
  await iterator.return?.()
  await Promise.all([gone, next])
})

it('trusts the authorities that it was told of, or nobody in particular', async () => {
  const { origin } = await start(() => text('ok'))
  await expect(proxies.open({ origin }).send(request)).rejects.toThrow('certificate')
  expect(await textOf(await proxies.open({ origin, insecure: true }).send(request))).toBe('ok')
  expect(() => proxies.open({ origin, ca: 'nothing' })).toThrow('unable to load root certificates')
})

it('goes where a service is found', async () => {
  const target = await start(() => text('found'))
  const resolve = async () => ({ host: '127.0.0.1', port: server!.port })
  const { send } = proxies.open({ ...target, origin: 'https://metrics.shop.svc:443', serverName: 'localhost', resolve })
  expect(await textOf(await send(request))).toBe('found')
  const { send: lost } = proxies.open({ ...target, resolve: () => Promise.reject(new Error('service "metrics" not found')) })
  await expect(lost(request)).rejects.toThrow('service "metrics" not found')
})

describe('what is passed on', () => {
  it('a body goes piece by piece, as the other server takes it', async () => {
    const target = await start(async (given) => {
      let length = 0
      for await (const piece of given.stream!()) length += piece.byteLength
      return text(`${given.headers['transfer-encoding'] ?? given.headers['content-length']} ${length}`)
    })
    async function* pieces() {
      for (let i = 0; i < 50; i++) yield new Uint8Array(100_000)
    }
    const answer = await proxies.open(target).send({ ...request, method: 'POST', body: pieces() })
    expect(await textOf(answer)).toBe('chunked 5000000')
    const whole = await proxies.open(target).send({ ...request, method: 'POST', body: new Uint8Array(7) })
    expect(await textOf(whole)).toBe('7 7')
  })

  it('headers beyond ASCII arrive as they were meant, both ways', async () => {
    const target = await start((given) => text('', { headers: { 'x-seen': String(given.headers['x-remote-user']) } }))
    const { headers } = await proxies.open(target).send({ ...request, headers: { 'x-remote-user': 'Zoë 東京' } })
    expect(headers['x-seen']).toBe('Zoë 東京')
  })

  it('redirections are answers, not orders', async () => {
    const target = await start(() => text('', { status: 302, headers: { location: 'https://elsewhere.example.com/' } }))
    const answer = await proxies.open(target).send(request)
    expect(answer).toMatchObject({ status: 302, headers: { location: 'https://elsewhere.example.com/' } })
    expect(await textOf(answer)).toBe('')
  })

  it('an abort tells its reason', async () => {
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

  it('another protocol, when both ends go over to it', async () => {
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

  it('a closed target answers what is under way, and starts anew when it is asked again', async () => {
    const target = await start(() => text('ok'))
    const opened = proxies.open(target)
    expect(await textOf(await opened.send(request))).toBe('ok')
    opened.close()
    expect(await textOf(await opened.send(request))).toBe('ok')
  })
})
