import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start, dial } = usePlainServer()

describe('an unread body', () => {
  const head = (fields: string) => `POST / HTTP/1.1\r\nHost: h\r\n${fields}\r\n\r\n`
  const mebibyte = 1024 * 1024
  /** Name, head fields, and a piece that is repeated endlessly. Bytes count including their framing. */
  const endless: [string, string, string][] = [
    ['large chunks', 'Transfer-Encoding: chunked', `100000\r\n${'x'.repeat(mebibyte)}\r\n`],
    ['small chunks', 'Transfer-Encoding: chunked', '0001\r\nx\r\n'.repeat(mebibyte / 9)],
    ['zeros of a chunk size', 'Transfer-Encoding: chunked', '0'.repeat(mebibyte)],
    ['a length', 'Content-Length: 1000000000', 'x'.repeat(mebibyte)],
    ['a last request', 'Connection: close\r\nContent-Length: 1000000000', 'x'.repeat(mebibyte)],
  ]

  it.each(endless)('closes the connection after the whole response when too long: %s', async (_, fields, piece) => {
    let bytesRead = () => 0
    const onConnection = ({ socket }: { socket: Socket }) => {
      bytesRead = () => socket.bytesRead
    }
    subscribe('http.server.request.start', onConnection as ChannelListener)
    await start(() => textResponse('refused', { status: 401 }))
    const client = dial().send(head(fields))
    await client.until('refused')
    for (let sent = 0; sent < 100 && !client.socket.closed; sent++) {
      client.send(piece)
      if (client.socket.writableNeedDrain)
        await Promise.race([client.closed, once(client.socket, 'drain').catch(() => undefined)])
    }
    await client.closed
    unsubscribe('http.server.request.start', onConnection as ChannelListener)
    expect(client.received).toContain('refused')
    expect(bytesRead()).toBeLessThan(0.75 * mebibyte)
  })

  it('closes the connection after the whole response when its reader stopped', async () => {
    let message: IncomingMessage | undefined
    const onRequest = ({ request }: { request: IncomingMessage }) => {
      message = request
    }
    subscribe('http.server.request.start', onRequest as ChannelListener)
    await start(async () => {
      // As a pipeline does that breaks off; node then takes the socket from the message.
      for await (const _ of message!) break
      expect(message?.socket).toBeNull()
      return textResponse('refused', { status: 403 })
    })
    const client = dial().send(head('Content-Length: 100000')).send('x'.repeat(50_000))
    await client.until('refused')
    await client.closed
    unsubscribe('http.server.request.start', onRequest as ChannelListener)
    expect(client.received).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('announces the end of the connection when its length is too long', async () => {
    await start(() => textResponse('refused', { status: 401 }))
    expect(await dial().send(head('Content-Length: 270000')).until('refused')).toContain('Connection: close')
    expect(await dial().send(head('Content-Length: 260000')).until('refused')).toContain('Connection: keep-alive')
  })

  it('keeps the connection alive when small', async () => {
    await start(() => textResponse('refused', { status: 401 }))
    const client = dial()
    for (let i = 0; i < 3; i++) {
      client.received = ''
      await client.send(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`).until('refused')
    }
  })

  it.each(['Connection: close', 'Expect: 100-continue'])('leaves time to read a last response (%s)', async (header) => {
    let onAnswered = () => {}
    const answered = new Promise<void>((resolve) => {
      onAnswered = resolve
    })
    await start(() => {
      setTimeout(onAnswered, 20)
      return textResponse('refused', { status: 401 })
    })
    const client = dial()
    // The client reads only after it has sent, like a slow client.
    client.socket.pause()
    const error = vi.fn()
    client.socket.on('error', error)
    client.send(`POST / HTTP/1.1\r\nHost: h\r\n${header}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(50_000)}`)
    await answered
    await new Promise((sent) => client.socket.write('x'.repeat(1000), sent))
    await new Promise((sent) => client.socket.write('x'.repeat(1000), sent))
    client.socket.resume()
    expect(await client.until('refused')).toContain('Connection: close')
    await client.closed
    expect(error).not.toHaveBeenCalled()
  })

  it('leaves that time after the end of a large last response', async () => {
    const body = 'x'.repeat(16 * 1024 * 1024)
    await start(() => textResponse(body, { status: 401 }))
    const client = dial()
    const error = vi.fn()
    client.socket.on('error', error).pause()
    client.send(`POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(50_000)}`)
    await new Promise((resolve) => setTimeout(resolve, 700))
    client.socket.resume()
    // The client continues sending until it has read the response.
    const sending = setInterval(() => client.socket.write('x'), 1)
    await client.closed
    clearInterval(sending)
    expect(client.received.length).toBeGreaterThan(body.length)
    expect(error).not.toHaveBeenCalled()
  })
})
