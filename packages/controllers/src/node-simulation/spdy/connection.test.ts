import { constants, deflateRawSync } from 'node:zlib'
import { turnsDuring } from '@krmkit/base/testing'
import { describe, expect, it } from 'vitest'
import { ServerPipe } from '../server-pipe.ts'
import { SpdyConnection } from './connection.ts'
import { controlFrame, dataFrame, FrameReader, frameTypes, numbers } from './frames.ts'
import { HeaderEncoder } from './header-block.ts'

/** A connection that accepts streams of the type `data`, without reading them. */
function open() {
  let closed = 0
  let seen = 0
  const pipe: ServerPipe = new ServerPipe({
    receive: (chunk) => streams.receive(chunk),
    whenTaken: (done) => streams.whenTaken(done),
    closed: () => streams.close(),
    overrun: () => streams.close(),
  })
  const streams: SpdyConnection = new SpdyConnection(pipe, {
    accept(stream) {
      seen++
      return stream.headers.get('streamtype') === 'data' ? () => undefined : undefined
    },
    closed: () => closed++,
  })
  return { connection: pipe.connection, seen: () => seen, closed: () => closed }
}

function opening(encoder: HeaderEncoder) {
  return (id: number, streamtype: string): Buffer =>
    controlFrame(frameTypes.synStream, Buffer.concat([numbers(id, 0), Buffer.alloc(2), encoder.encode({ streamtype })]))
}

describe('a connection of SPDY', () => {
  it('ends after too many refused streams in a row', async () => {
    const client = open()
    client.connection.resume()
    const openStream = opening(new HeaderEncoder())
    client.connection.write(Buffer.concat(Array.from({ length: 1000 }, (_, i) => openStream(2 * i + 1, 'other'))))
    await expect.poll(client.closed).toBe(1)
    expect(client.seen()).toBe(101)
  })

  it('ends after too many ignored header blocks', async () => {
    const client = open()
    client.connection.resume()
    const encoder = new HeaderEncoder()
    client.connection.write(opening(encoder)(1, 'data'))
    const headers = controlFrame(frameTypes.headers, Buffer.concat([numbers(1), encoder.encode({ a: 'b' })]))
    client.connection.write(Buffer.concat(Array<Buffer>(100).fill(headers)))
    await new Promise(setImmediate)
    expect(client.closed()).toBe(0)
    client.connection.write(headers)
    await expect.poll(client.closed).toBe(1)
  })

  it.each([
    ['a block of headers that inflates to 60 KB', () => inflating(60_000)],
    ['a control frame that is too large', () => controlFrame(frameTypes.settings, Buffer.alloc(20_000))],
    ['a ping with a payload', () => controlFrame(frameTypes.ping, Buffer.alloc(5))],
  ])('ends for %s', async (_, frame) => {
    const client = open()
    client.connection.write(Buffer.concat([opening(new HeaderEncoder())(1, 'data'), frame()]))
    await expect.poll(client.closed).toBe(1)
  })

  it('applies backpressure to a client that does not read', async () => {
    const client = open()
    let taken = 0
    const pings = Buffer.concat(Array<Buffer>(5000).fill(controlFrame(frameTypes.ping, numbers(1))))
    for (let i = 0; i < 100; i++) client.connection.write(pings, () => taken++)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(taken).toBeLessThan(3)
    expect(client.connection.readableLength).toBeLessThan(2 * pings.length)
  })

  it('yields to the event loop while it handles many frames', async () => {
    const client = open()
    client.connection.resume()
    const openStream = opening(new HeaderEncoder())
    const reset = (id: number) => controlFrame(frameTypes.rstStream, numbers(id, 5))
    const frames = Array.from({ length: 2000 }, (_, i) => Buffer.concat([openStream(2 * i + 1, 'data'), reset(2 * i + 1)]))
    const { turns } = await turnsDuring(
      () => new Promise<unknown>((resolve) => client.connection.write(Buffer.concat(frames), resolve)),
    )
    expect(client.seen()).toBe(2000)
    expect(turns).toBeGreaterThan(1)
  })

  it('retains little memory for many small chunks', async () => {
    const client = open()
    let taken = 0
    client.connection.write(opening(new HeaderEncoder())(1, 'data'))
    const parts = Buffer.concat(Array<Buffer>(1000).fill(dataFrame(1, Buffer.alloc(1))))
    for (let i = 0; i < 100; i++) client.connection.write(parts, () => taken++)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(taken).toBeLessThan(20)
  })
})

describe('a reader of frames', () => {
  it('returns data as it arrives, with the flags on the last part', () => {
    const reader = new FrameReader()
    const bytes = Buffer.concat([dataFrame(3, Buffer.alloc(100_000), 1), controlFrame(frameTypes.ping, numbers(7))])
    const found: [length: number, flags: number][] = []
    for (let at = 0; at < bytes.length; at += 16_000) {
      reader.push(bytes.subarray(at, at + 16_000))
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) found.push([frame.payload.length, frame.flags])
    }
    expect(found).toEqual([[15_992, 0], ...Array.from({ length: 5 }, () => [16_000, 0]), [4008, 1], [4, 0]])
  })
})

/** Headers of a stream that compress well. */
function inflating(length: number): Buffer {
  const value = Buffer.alloc(length, 'x')
  const block = Buffer.concat([numbers(1, 1), Buffer.from('a'), numbers(length), value])
  const compressed = deflateRawSync(block, { finishFlush: constants.Z_SYNC_FLUSH })
  return controlFrame(frameTypes.headers, Buffer.concat([numbers(1), compressed]))
}
