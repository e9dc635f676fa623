import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { encodeFields, encodeFrame, flags, frameTypes, RawHttp2, requestFields } from './testing/raw-http2.ts'

/** Each request of an HTTP/2 connection gets its complete response, whatever other requests of the connection do. */

const mebibyte = 1024 * 1024
const large = Buffer.alloc(3 * mebibyte, 'x')

/** `/read` reads the body, `/late5` waits for 5 ms, `/large` and `/empty` choose the size of the response. */
async function respond(request: ApiRequest): Promise<ApiResponse> {
  const { path } = request
  if (path.includes('read')) await request.body(mebibyte)
  const delay = /^\/late(\d+)/.exec(path)?.[1]
  if (delay !== undefined) await new Promise((resolve) => setTimeout(resolve, Number(delay)))
  if (path.includes('empty')) return { status: 200, headers: {}, body: { kind: 'empty' } }
  return { status: 200, headers: {}, body: { kind: 'bytes', bytes: path.includes('large') ? large : Buffer.from('small') } }
}

let directory: string
let server: Listener
let client: RawHttp2
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
  server = await listen({ handle: respond }, { tls: selfSigned(directory) })
})
afterAll(async () => {
  await server.close({ graceMs: 50 })
  await rm(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  client = new RawHttp2(server.port)
  await client.arrival()
})
afterEach(() => client.socket.destroy())

function head(stream: number, path: string, method: string): Buffer {
  const given: Readonly<Record<string, string>> = { ':path': path, ':method': method }
  const fields = requestFields.map(([name, value]) => [name, given[name] ?? value] as const)
  return encodeFrame(frameTypes.headers, {
    flags: flags.endHeaders | (method === 'GET' ? flags.end : 0),
    stream,
    payload: encodeFields(fields),
  })
}

const data = (stream: number, more: { readonly end: boolean }) =>
  encodeFrame(frameTypes.data, { stream, flags: more.end ? flags.end : 0, payload: Buffer.alloc(1000) })

/** Types of the frames of a stream; `end` marks the last one of the response. */
const framesOf = (stream: number) =>
  client.frames
    .filter((frame) => frame.stream === stream)
    .map(({ type, flags: set }) => {
      const name =
        type === frameTypes.headers ? 'headers' : type === frameTypes.data ? 'data' : type === frameTypes.reset ? 'reset' : type
      return type !== frameTypes.reset && (set & flags.end) !== 0 ? `${name} end` : name
    })

const streams = Array.from({ length: 200 }, (_, i) => 2 * i + 3)

async function untilAll(isComplete: (stream: number) => boolean): Promise<void> {
  while (!streams.every(isComplete)) await client.arrival()
}

describe('an HTTP/2 response', () => {
  it.each([
    ['without content', '/read/empty', ['headers end']],
    ['with content', '/read', ['headers', 'data end']],
  ])('%s is sent to each of many requests with bodies', async (_, path, expected) => {
    for (const stream of streams) {
      client.send(head(stream, path, 'POST'), data(stream, { end: true }))
      if (stream % 16 === 1) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await untilAll((stream) => framesOf(stream).some((name) => name === 'reset' || String(name).endsWith('end')))
    for (const stream of streams) expect(framesOf(stream)).toEqual(expected)
  })

  it.each([
    ['without content', '/empty', ['headers end', 'reset']],
    ['with content', '/', ['headers', 'data end', 'reset']],
  ])('%s is complete before the reset that ends the unread body of its request', async (_, path, expected) => {
    // Large windows keep the connection writing.
    client.send(encodeFrame(frameTypes.settings, { payload: Buffer.from([0, 4, 0x7f, 0, 0, 0]) }))
    client.send(encodeFrame(frameTypes.window, { payload: Buffer.from([0x7f, 0, 0, 0]) }), head(1, '/large', 'GET'))
    for (const stream of streams) {
      client.send(head(stream, path, 'POST'), data(stream, { end: false }))
      if (stream % 16 === 1) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await untilAll((stream) => framesOf(stream).includes('reset'))
    for (const stream of streams) expect(framesOf(stream)).toEqual(expected)
  })

  it('is sent while the client does not read other, large responses', async () => {
    for (const stream of streams.slice(0, 20)) client.send(head(stream, '/large', 'GET'))
    while (!streams.slice(0, 20).every((stream) => framesOf(stream).length > 0)) await client.arrival()
    for (const stream of streams.slice(20)) client.send(head(stream, '/empty', 'GET'))
    await untilAll((stream) => framesOf(stream).length > 0)
    expect(streams.slice(20).map(framesOf)).toEqual(streams.slice(20).map(() => ['headers end']))
  })

  it('after the end of the connection is no fault', async () => {
    for (let round = 0; round < 40; round++) {
      const other = new RawHttp2(server.port)
      await other.arrival()
      for (const stream of streams)
        other.send(
          head(stream, `/late${stream % 11}/${stream % 3 === 0 ? 'large' : 'empty'}`, 'POST'),
          data(stream, { end: false }),
        )
      await new Promise((resolve) => setTimeout(resolve, round % 10))
      other.socket.end()
      await other.closed
    }
    client.send(head(1, '/', 'GET'))
    while (!framesOf(1).includes('data end')) await client.arrival()
  })
})
