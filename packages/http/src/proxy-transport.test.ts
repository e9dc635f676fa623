import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiRequest, ApiResponse, ProxyTarget } from '@krmkit/apiserver'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
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
  body: new Uint8Array(),
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
  const send = proxies.open(target)
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
  const { body } = await proxies.open(target)(request)
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

it('trusts the authorities that it was told of, or nobody in particular', async () => {
  const { origin } = await start(() => text('ok'))
  await expect(proxies.open({ origin })(request)).rejects.toThrow('certificate')
  expect(await textOf(await proxies.open({ origin, insecure: true })(request))).toBe('ok')
  expect(() => proxies.open({ origin, ca: 'nothing' })).toThrow('unable to load root certificates')
})

it('goes where a service is found', async () => {
  const target = await start(() => text('found'))
  const resolve = async () => ({ host: '127.0.0.1', port: server!.port })
  const send = proxies.open({ ...target, origin: 'https://metrics.shop.svc:443', serverName: 'localhost', resolve })
  expect(await textOf(await send(request))).toBe('found')
  const lost = proxies.open({ ...target, resolve: () => Promise.reject(new Error('service "metrics" not found')) })
  await expect(lost(request)).rejects.toThrow('service "metrics" not found')
})
