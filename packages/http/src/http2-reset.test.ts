import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { resetsPerSecond } from './reset-budget.ts'
import { selfSigned } from './self-signed.ts'
import { Feed, streamResponse } from './testing/fake-server.ts'
import { encodeFields, encodeFrame, flags, frameTypes, RawHttp2, requestFields } from './testing/raw-http2.ts'

let directory: string
let feed: Feed
let server: Listener
let handled = 0
let session: ClientHttp2Session
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-reset-'))
  feed = new Feed()
  handled = 0
  const handle = async () => {
    handled++
    return streamResponse(feed)
  }
  server = await listen({ handle }, { tls: selfSigned(directory) })
  session = connect(server.url, { rejectUnauthorized: false })
})
afterEach(async () => {
  session.destroy()
  await server.close({ graceMs: 0 })
  await rm(directory, { recursive: true, force: true })
})

describe('a reset of an HTTP/2 stream', () => {
  it.each([
    ['CANCEL', constants.NGHTTP2_CANCEL],
    ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
  ])('with %s releases a response that the flow control holds back', async (_, code) => {
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => undefined)
    await once(stream, 'response')
    // More than the window of a client that does not read.
    for (let i = 0; i < 64; i++) feed.push(new Uint8Array(64 * 1024))
    await expect.poll(() => feed.pulled).toBeGreaterThan(0)
    if (code === constants.NGHTTP2_NO_ERROR) stream.destroy()
    else stream.close(code)
    await feed.released
  })
})

/** The frames of requests that are reset at once, with odd numbers from `first` on. */
function resetRequests(first: number, count: number): Buffer[] {
  const payload = encodeFields(requestFields)
  return Array.from({ length: count }, (_, i) => first + 2 * i).flatMap((stream) => [
    encodeFrame(frameTypes.headers, { flags: flags.end | flags.endHeaders, stream, payload }),
    encodeFrame(frameTypes.reset, { stream, payload: Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]) }),
  ])
}

describe('a connection that resets its streams', () => {
  it('continuously gets GOAWAY with ENHANCE_YOUR_CALM and is closed', async () => {
    const client = new RawHttp2(server.port)
    client.send(...resetRequests(1, 20_000))
    await client.closed
    const codes = client.frames.filter(({ type }) => type === frameTypes.goaway).map(({ payload }) => payload.readUInt32BE(4))
    expect(codes.at(-1)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect(handled).toBeLessThan(3 * resetsPerSecond)
    // Other connections are still served.
    await once(
      session.request({ ':path': '/' }).on('error', () => undefined),
      'response',
    )
  })

  it('at the rate of a client that cancels hundreds of watches stays open', async () => {
    for (let round = 0; round < 4; round++) {
      const streams = Array.from({ length: 100 }, () => session.request({ ':path': '/' }).on('error', () => undefined))
      await Promise.all(streams.map((stream) => once(stream, 'response')))
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    }
    await once(
      session.request({ ':path': '/' }).on('error', () => undefined),
      'response',
    )
    expect([session.closed, session.destroyed]).toEqual([false, false])
  })
})
