import { PassThrough } from 'node:stream'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { type RawClient, textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start: listen, dial, server } = usePlainServer()

async function start(handle: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>): Promise<RawClient> {
  await listen(handle)
  return dial()
}

/** A connection that echoes its input. */
const echo = (): ApiResponse => ({
  status: 101,
  headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-evil': 'a\r\nb' },
  body: { kind: 'connection', connection: new PassThrough() },
})

const ask = (more = '') => `POST /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${more}\r\n`

describe('upgrade requests', () => {
  it('carry bytes both ways, including those sent with the head', async () => {
    const client = await start((request) => {
      expect(request.upgradable).toBe(true)
      expect(request.headers.upgrade).toBe('SPDY/3.1')
      return echo()
    })
    client.send(`${ask()}first`)
    await client.until(/first$/)
    expect(client.received).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(client.received).toContain('upgrade: SPDY/3.1\r\n')
    expect(client.received).toContain('x-evil: a  b\r\n')
    client.send('second')
    await client.until(/firstsecond$/)
  })

  it('close both ends when one closes', async () => {
    let connection: PassThrough | undefined
    const client = await start(() => {
      connection = new PassThrough()
      return { ...echo(), body: { kind: 'connection', connection } }
    })
    client.send(ask())
    await client.until('\r\n\r\n')
    connection!.destroy()
    await client.closed
    const other = dial()
    other.send(ask())
    await other.until('\r\n\r\n')
    const gone = new Promise<void>((resolve) => connection!.once('close', () => resolve()))
    other.socket.destroy()
    await gone
  })

  it('deliver what one side sent before it closed', async () => {
    const bytes = 8 * 1024 * 1024
    const client = await start(() => {
      const connection = new PassThrough({ highWaterMark: 2 * bytes })
      connection.end(Buffer.alloc(bytes, 'x'))
      connection.once('end', () => connection.destroy())
      return { ...echo(), body: { kind: 'connection', connection } }
    })
    client.send(ask())
    await client.until('\r\n\r\n')
    client.socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 50))
    client.socket.resume()
    await client.closed
    expect(client.received.length - client.received.indexOf('\r\n\r\n') - 4).toBe(bytes)
  })

  it('may get an ordinary response, after which the connection closes', async () => {
    const client = await start(() => textResponse('no', { status: 403 }))
    client.send(ask())
    await client.closed
    expect(client.received).toMatch(/^HTTP\/1\.1 403 /)
    expect(client.received.toLowerCase()).toContain('connection: close')
    expect(client.received.endsWith('no')).toBe(true)
  })

  it('may have a body with a length', async () => {
    const client = await start(async (request) => textResponse(`got ${Buffer.from(await request.body(100)).toString()}`))
    client.send(`${ask('Content-Length: 6\r\n')}abc`)
    client.send('defXXX')
    await client.closed
    expect(client.received.endsWith('got abcdef')).toBe(true)
  })

  it('are rejected with a chunked body', async () => {
    const client = await start(async (request) => textResponse(Buffer.from(await request.body(100)).toString()))
    client.send(`${ask('Transfer-Encoding: chunked\r\n')}3\r\nabc\r\n0\r\n\r\n`)
    await client.closed
    expect(client.received).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('end when the server closes', async () => {
    const client = await start(() => echo())
    client.send(ask())
    await client.until('\r\n\r\n')
    await server().close({ graceMs: 2000 })
    await client.closed
  })
})

describe('streamed request bodies', () => {
  it('are read as they arrive', async () => {
    const pieces: string[] = []
    const client = await start(async (request) => {
      for await (const piece of request.stream!()) {
        pieces.push(Buffer.from(piece).toString())
        if (pieces.join('') === 'one') client.send('3\r\ntwo\r\n0\r\n\r\n')
      }
      return textResponse('done')
    })
    client.send('POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
    await client.until(/done$/)
    expect(pieces.join('')).toBe('onetwo')
  })

  it('are empty for a request without a body', async () => {
    const client = await start(async (request) => {
      let count = 0
      for await (const _ of request.stream!()) count++
      return textResponse(`${count} pieces`)
    })
    client.send('GET /a HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.until(/0 pieces$/)
  })
})
