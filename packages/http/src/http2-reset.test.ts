import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { Feed, streamResponse } from './testing/fake-server.ts'

let directory: string
let feed: Feed
let server: Listener
let session: ClientHttp2Session
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-reset-'))
  feed = new Feed()
  server = await listen({ handle: async () => streamResponse(feed) }, { tls: selfSigned(directory) })
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
