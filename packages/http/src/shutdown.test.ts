import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { Feed, listenPlain, RawClient, streamResponse, textResponse, withErrorResponses } from './testing/fake-server.ts'

const get = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'

describe('close', () => {
  it('ends streams cleanly, completes responses and closes idle connections', async () => {
    const feed = new Feed()
    let answer: ((answer: ApiResponse) => void) | undefined
    const server = await listenPlain(({ path }) => {
      if (path === '/slow') return new Promise((resolve) => (answer = resolve))
      return path === '/stream' ? streamResponse(feed) : textResponse('fine')
    })
    const idle = new RawClient(server.port).send(get)
    await idle.until('fine')
    const watch = new RawClient(server.port).send('GET /stream HTTP/1.1\r\nHost: h\r\n\r\n')
    await watch.until('\r\n\r\n')
    const slow = new RawClient(server.port).send('GET /slow HTTP/1.1\r\nHost: h\r\n\r\n')
    while (answer === undefined) await new Promise((resolve) => setImmediate(resolve))
    const closed = server.close({ graceMs: 60_000 })
    feed.push('not read any more')
    await watch.closed
    expect(watch.received).toMatch(/0\r\n\r\n$/)
    await feed.released
    await idle.closed
    answer(textResponse('late but whole'))
    await slow.closed
    expect(slow.received).toContain('Connection: close')
    expect(slow.received).toContain('late but whole')
    await closed
    expect(server.close()).toBe(server.close())
    await new RawClient(server.port).closed
  })

  it('completes streams and responses for slow TLS readers', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
    const feed = new Feed()
    const large = Buffer.alloc(4 * 1024 * 1024, 'x')
    const handle = withErrorResponses(({ path }) =>
      path === '/stream' ? streamResponse(feed) : { status: 200, headers: {}, body: { kind: 'bytes', bytes: large } },
    )
    const server = await listen({ handle }, { tls: selfSigned(directory) })
    const agent = new Agent({ keepAlive: true, ca: server.authority! })
    const open = (path: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        request(server.url + path, { agent }, resolve)
          .on('error', reject)
          .end()
      })
    const [watch, slow] = await Promise.all([open('/stream'), open('/large')])
    feed.push('one')
    await once(watch, 'readable')
    const closed = server.close({ graceMs: 60_000 })
    expect(await textOf(watch)).toBe('one')
    expect(watch.complete).toBe(true)
    expect((await textOf(slow)).length).toBe(large.length)
    await closed
    await rm(directory, { recursive: true })
  })

  it('destroys the remaining connections after the grace period', async () => {
    let signalArrival: (() => void) | undefined
    const arrived = new Promise<void>((resolve) => {
      signalArrival = resolve
    })
    const server = await listenPlain(() => {
      signalArrival!()
      return new Promise(() => undefined)
    })
    const stuck = new RawClient(server.port).send(get)
    await arrived
    await server.close({ graceMs: 20 })
    await stuck.closed
  })

  it('sends GOAWAY to HTTP/2 clients and waits for their streams', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
    let answer: ((answer: ApiResponse) => void) | undefined
    const handle = withErrorResponses(() => new Promise<ApiResponse>((resolve) => (answer = resolve)))
    const server = await listen({ handle }, { tls: selfSigned(directory) })
    const session = connectHttp2(server.url, { ca: server.authority! })
    const gone = new Promise((resolve) => session.once('goaway', resolve))
    const stream = session.request({ ':path': '/' })
    const body = new Promise((resolve) => stream.once('data', resolve))
    while (answer === undefined) await new Promise((resolve) => setImmediate(resolve))
    const closed = server.close({ graceMs: 60_000 })
    await gone
    answer(textResponse('late but whole'))
    expect(String(await body)).toBe('late but whole')
    await closed
    await rm(directory, { recursive: true })
  })

  it('runs at the end of an await using block', async () => {
    let port: number
    {
      await using server = await listenPlain(() => textResponse('x'))
      port = server.port
    }
    await new RawClient(port).closed
  })
})
