import type { ApiRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { textResponse } from './testing/fake-server.ts'
import { usePlainServer } from './testing/plain-server.ts'

const { start, dial } = usePlainServer()

describe('HTTP/1.1 request body', () => {
  const echo = async (request: ApiRequest) => textResponse(`<${Buffer.from(await request.body(20)).toString('latin1')}>`)

  it('is read with a length, in chunks, and when absent', async () => {
    await start(echo)
    const client = dial()
    await client.send('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc').until('<abc>')
    await client
      .send('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n')
      .until('<def>')
    await client.send('POST / HTTP/1.1\r\nHost: h\r\n\r\n').until('<>')
  })

  it('is received before the request is handled when it comes with the head', async () => {
    const received: unknown[] = []
    await start(async (request) => {
      received.push(request.isBodyReceived)
      return echo(request)
    })
    const client = dial()
    const head = (length: number) => `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n`
    await client.send(`${head(3)}abc`).until('<abc>')
    await client.send(head(21) + 'x'.repeat(21)).until('limit is 20')
    await client.send('DELETE / HTTP/1.1\r\nHost: h\r\n\r\n').until('<>')
    client.send(`${head(4)}de`)
    while (received.length < 4) await new Promise(setImmediate)
    await client.send('fg').until('<defg>')
    expect(received).toEqual([true, true, true, false])
  })

  it('is read whole from each of several requests in one segment', async () => {
    await start(echo)
    const post = (body: string) => `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const answer = await dial()
      .send([post('one'), post('two'), post('three')].join(''))
      .until('<three>')
    expect(answer.match(/<\w*>/g)).toEqual(['<one>', '<two>', '<three>'])
  })

  it.each([
    ['declared', `Content-Length: 21\r\n\r\n${'x'.repeat(21)}`],
    ['found out', `Transfer-Encoding: chunked\r\n\r\n15\r\n${'x'.repeat(21)}\r\n0\r\n\r\n`],
  ])('is rejected above the limit, %s', async (_, rest) => {
    await start(echo)
    const client = dial().send(`POST / HTTP/1.1\r\nHost: h\r\n${rest}`)
    const answer = await client.until('limit is 20')
    expect(answer).toContain('HTTP/1.1 413 ')
    expect(answer).toContain('"reason":"RequestEntityTooLarge"')
    // The rest of the body was discarded, so the connection is still usable.
    client.received = ''
    await client.send('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\ny').until('<y>')
  })

  it('closes the connection when far too large', async () => {
    await start(echo)
    const client = dial().send('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
    for (let i = 0; i < 12 && !client.socket.closed; i++) client.send(chunk)
    await client.closed
    expect(client.received).toContain('limit is 20')
  })

  it.each(['Content-Length: 15', 'Transfer-Encoding: chunked'])('stalled, gets a 408 (%s)', async (head) => {
    await start(echo, { limits: { bodyWindowMs: 40 } })
    const client = dial().send(`POST / HTTP/1.1\r\nHost: h\r\n${head}\r\n\r\n1\r\n`)
    expect(await client.until('too slowly')).toContain('HTTP/1.1 408 ')
  })

  it('is accepted at the minimum rate', async () => {
    await start(echo, { limits: { bodyWindowMs: 40, bodyBytesPerSecond: 1 } })
    const client = dial().send('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n')
    for (let i = 0; i < 12; i++) {
      client.send('x')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await client.until(`<${'x'.repeat(12)}>`)
  })

  it('gets 100 Continue only when the handler reads it', async () => {
    await start(async (request) => (request.path === '/no' ? textResponse('unwanted', { status: 401 }) : echo(request)))
    const head = (path: string, length: number) =>
      `POST ${path} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
    const client = dial().send(head('/yes', 2))
    await client.until('HTTP/1.1 100 Continue\r\n\r\n')
    await client.send('ok').until('<ok>')
    for (const [path, length, part] of [
      ['/no', 2, 'unwanted'],
      ['/yes', 21, 'limit is 20'],
    ] as const) {
      const refused = dial().send(head(path, length))
      const answer = await refused.until(part)
      expect(answer).not.toContain('100 Continue')
      expect(answer).toContain('Connection: close')
      await refused.closed
    }
  })

  it('cut short, fails only the read of the handler', async () => {
    let failure: unknown
    const over = new Promise<void>((resolve) => {
      void start(async (request) => {
        await request.body(100).catch((error: unknown) => {
          failure = error
          resolve()
        })
        return textResponse('unread response')
      }).then(() => dial().send('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nabc').socket.end())
    })
    await over
    expect(failure).toMatchObject({ code: 400 })
  })
})
