import { describe, expect, it } from 'vitest'
import { Intake } from './intake.ts'
import { ServerWebSocket } from './web-socket.ts'

/** A frame of a client, masked. */
function frame(opcode: number, payload: Buffer, { isFinal = true, length = payload.length } = {}): Buffer {
  const mask = Buffer.from([1, 2, 3, 4])
  const head = Buffer.alloc(10)
  head[0] = (isFinal ? 0x80 : 0) | opcode
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(length), 2)
  const short = payload.length < 126 && length === payload.length
  const masked = payload.map((byte, i) => byte ^ mask[i & 3]!)
  return Buffer.concat([short ? Buffer.from([head[0]!, 0x80 | length]) : head, mask, masked])
}

/** A socket that records what the server and the client received. */
function open() {
  const parts: { readonly length: number; readonly isFirst: boolean }[] = []
  const texts: string[] = []
  let closed = 0
  const intake = new Intake()
  const socket = new ServerWebSocket({
    data(part, isFirst) {
      parts.push({ length: part.length, isFirst })
      if (part.length < 100) texts.push(part.toString())
    },
    closed: () => closed++,
    whenTaken: (done) => intake.whenTaken(done),
  })
  return { socket, intake, parts, texts, connection: socket.connection, closed: () => closed }
}

/** Waits for the end of a connection. @returns the code of its close frame */
async function closeCode({ connection }: ReturnType<typeof open>): Promise<number> {
  let received = Buffer.alloc(0)
  for await (const chunk of connection) received = Buffer.concat([received, chunk as Buffer])
  return received.readUInt16BE(received.length - 2)
}

describe('a WebSocket of a simulated node', () => {
  it('reads frames that arrive byte by byte', async () => {
    const client = open()
    const bytes = [frame(2, Buffer.from('ab')), frame(2, Buffer.from('cd'), { isFinal: false }), frame(0, Buffer.from('ef'))]
    for (const byte of Buffer.concat(bytes)) client.connection.write(Buffer.from([byte]))
    await expect.poll(() => client.texts.join('')).toBe('abcdef')
    expect(client.parts.map(({ isFirst }) => isFirst)).toEqual([true, false, true, false, false, false])
  })

  it('passes large frames on as they arrive', async () => {
    const client = open()
    client.connection.write(frame(2, Buffer.alloc(0), { length: 20 << 20 }))
    for (let i = 0; i < 100; i++) client.connection.write(Buffer.alloc(10_000))
    await expect.poll(() => client.parts.reduce((sum, { length }) => sum + length, 0)).toBe(1_000_000)
    expect(client.parts.length).toBeGreaterThan(50)
  })

  it('retains no memory for empty fragments', async () => {
    const client = open()
    client.connection.write(frame(2, Buffer.alloc(0), { isFinal: false }))
    const fragments = Buffer.concat(Array<Buffer>(10_000).fill(frame(0, Buffer.alloc(0), { isFinal: false })))
    for (let i = 0; i < 20; i++) client.connection.write(fragments)
    client.connection.write(frame(0, Buffer.from('end')))
    await expect.poll(() => client.texts).toEqual(['end'])
    expect(client.parts).toEqual([{ length: 3, isFirst: true }])
  })

  it.each([
    ['a frame of 2^50 bytes', 1009, [frame(2, Buffer.alloc(0), { length: 2 ** 50 })]],
    ['a frame above the limit', 1009, [frame(2, Buffer.alloc(0), { length: (32 << 20) + 1 })]],
    [
      'fragments above the limit',
      1009,
      Array.from({ length: 40 }, (_, i) => frame(i === 0 ? 2 : 0, Buffer.alloc(1 << 20), { isFinal: false })),
    ],
    ['a ping that is too long', 1002, [frame(9, Buffer.alloc(126))]],
    ['a ping in fragments', 1002, [frame(9, Buffer.alloc(1), { isFinal: false })]],
    ['a fragment without a message', 1002, [frame(0, Buffer.from('a'))]],
    ['a message within a message', 1002, [frame(2, Buffer.from('a'), { isFinal: false }), frame(2, Buffer.from('b'))]],
    ['a frame without a mask', 1002, [Buffer.from([0x82, 1, 0x61])]],
    ['an empty frame without a mask', 1002, [Buffer.from([0x82, 0])]],
    ['a ping without a mask', 1002, [Buffer.from([0x89, 0])]],
    ['an unknown frame', 1002, [frame(3, Buffer.from('a'))]],
  ])('ends the connection for %s with %i', async (_, code, frames) => {
    const client = open()
    client.connection.write(Buffer.concat(frames))
    expect(await closeCode(client)).toBe(code)
    expect(client.closed()).toBe(1)
  })

  it('applies backpressure to a client that does not read', async () => {
    const client = open()
    let taken = 0
    const pings = Buffer.concat(Array<Buffer>(500).fill(frame(9, Buffer.alloc(125))))
    for (let i = 0; i < 100; i++) client.connection.write(pings, () => taken++)
    await new Promise(setImmediate)
    expect(taken).toBeLessThan(3)
    expect(client.connection.readableLength).toBeLessThan(2 * pings.length)
    client.connection.resume()
    await expect.poll(() => taken).toBe(100)
  })

  it('ends the connection of a client that leaves too much unread', async () => {
    const client = open()
    let sent = 0
    while (client.closed() === 0) {
      client.socket.send(Buffer.alloc(1 << 20))
      sent++
    }
    expect(sent).toBeLessThan(70)
    expect(await closeCode(client)).toBe(1008)
  })
})
