import { once } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start, dial } = usePlainServer()

describe('an unread body', () => {
  it('closes the connection after the whole response when too long', async () => {
    await start(() => textResponse('refused', { status: 401 }))
    for (const head of ['Transfer-Encoding: chunked', 'Content-Length: 1000000000']) {
      const client = dial().send(`POST / HTTP/1.1\r\nHost: h\r\n${head}\r\n\r\n`)
      const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
      let taken = 0
      for (; taken < 100 && !client.socket.closed; taken++) {
        client.send(chunk)
        if (client.socket.writableNeedDrain)
          await Promise.race([client.closed, once(client.socket, 'drain').catch(() => undefined)])
      }
      await client.closed
      expect(client.received).toContain('refused')
      // The kernel buffers of both sides hold some more.
      expect(taken).toBeLessThan(40)
    }
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
    // The client reads after it has sent, as one that is slow does.
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

  it('leaves that time from the end of a large last response on', async () => {
    const body = 'x'.repeat(16 * 1024 * 1024)
    await start(() => textResponse(body, { status: 401 }))
    const client = dial()
    const error = vi.fn()
    client.socket.on('error', error).pause()
    client.send(`POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(50_000)}`)
    await new Promise((resolve) => setTimeout(resolve, 700))
    client.socket.resume()
    // The client goes on sending until it has read the response.
    const sending = setInterval(() => client.socket.write('x'), 1)
    await client.closed
    clearInterval(sending)
    expect(client.received.length).toBeGreaterThan(body.length)
    expect(error).not.toHaveBeenCalled()
  })
})
