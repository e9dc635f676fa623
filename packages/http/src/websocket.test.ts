import { setTimeout as sleep } from 'node:timers/promises'
import { createApiServer } from '@krmkit/apiserver'
import { memoryStorage } from '@krmkit/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { listenPlain, RawClient, textResponse } from './testing/fake-server.ts'

let server: Listener | undefined
const open: { close(): void }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) each.close()
  await server?.close({ graceMs: 50 })
  server = undefined
})

/** Opens a client that collects messages. */
function dial(path: string, protocols: string[] = [], headers: Record<string, string> = { origin: 'http://127.0.0.1' }) {
  const client = new WebSocket(`ws://127.0.0.1:${server!.port}${path}`, protocols, { headers })
  const messages: string[] = []
  const kinds: boolean[] = []
  let wake = () => {}
  client.on('message', (data, isBinary) => {
    messages.push(String(data))
    kinds.push(isBinary)
    wake()
  })
  const refused = new Promise<{ status: number; body: string }>((resolve) =>
    client.on('unexpected-response', (_, response) => {
      let body = ''
      response.on('data', (piece) => {
        body += String(piece)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    }),
  )
  const closed = new Promise<number>((resolve) => client.on('close', (code) => resolve(code)))
  client.on('error', () => undefined)
  open.push({ close: () => client.terminate() })
  const until = async (count: number) => {
    while (messages.length < count) await new Promise<void>((resolve) => (wake = resolve))
    return messages.slice(0, count)
  }
  return { client, messages, kinds, until, closed, refused }
}

describe('watch over WebSocket', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const ask = (method: string, body: object, path = configMaps) =>
    fetch(`http://127.0.0.1:${server!.port}${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    })

  beforeEach(async () => {
    server = await listen(await createApiServer({ storage: memoryStorage() }), { tls: false })
    open.push({ close: () => undefined })
  })

  it('sends each event as one text message', async () => {
    const { until, kinds, client, closed } = dial(`${configMaps}?watch=1`)
    await new Promise((resolve) => client.once('open', resolve))
    expect((await ask('POST', { metadata: { name: 'a' }, data: { k: 'v\nw' } })).status).toBe(201)
    expect((await ask('PATCH', { data: { k: '2' } }, `${configMaps}/a`)).status).toBe(200)
    const events = (await until(2)).map((line) => JSON.parse(line) as { type: string; object: { data: { k: string } } })
    expect(events.map(({ type, object }) => [type, object.data.k])).toEqual([
      ['ADDED', 'v\nw'],
      ['MODIFIED', '2'],
    ])
    expect(kinds).toEqual([false, false])
    client.close()
    expect(await closed).toBe(1005)
  })

  it('ends with a closing handshake', async () => {
    const { closed } = dial(`${configMaps}?watch=1&timeoutSeconds=1`)
    expect(await closed).toBe(1000)
  })

  it('selects a subprotocol of the client, never its token', async () => {
    const { client } = dial(`${configMaps}?watch=1`, ['base64url.bearer.authorization.k8s.io.dG9rZW4', 'base64.binary.k8s.io'])
    await new Promise((resolve) => client.once('open', resolve))
    expect(client.protocol).toBe('base64.binary.k8s.io')
  })

  it.each([{}, { origin: 'null' }, { origin: 'foo' }])('answers 403 without an origin: %j', async (headers) => {
    expect(await dial(`${configMaps}?watch=1`, [], headers).refused).toEqual({ status: 403, body: '' })
  })

  it('answers 400 to several subprotocols', async () => {
    expect((await dial(`${configMaps}?watch=1`, ['foo', 'base64.binary.k8s.io']).refused).status).toBe(400)
  })

  it('sends events in protobuf as binary messages without their length', async () => {
    const accept = 'application/vnd.kubernetes.protobuf;stream=watch'
    const { client } = dial(`${configMaps}?watch=1`, [], { origin: 'http://127.0.0.1', accept })
    const received: [Buffer, boolean][] = []
    client.on('message', (data, isBinary) => void received.push([data as Buffer, isBinary]))
    await new Promise((resolve) => client.once('open', resolve))
    for (const name of ['a', 'b']) expect((await ask('POST', { metadata: { name } })).status).toBe(201)
    await expect.poll(() => received.length).toBe(2)
    for (const [data, isBinary] of received) {
      expect(isBinary).toBe(true)
      // Field 1, the type of the event.
      expect(data.subarray(0, 7).toString('latin1')).toBe('\n\x05ADDED')
    }
  })

  it('responds to other requests without upgrade', async () => {
    const { refused } = dial(configMaps)
    expect(await refused).toMatchObject({ status: 200, body: expect.stringContaining('ConfigMapList') })
    const other = dial(`${configMaps}?watch=1&fieldSelector=a`)
    expect(await other.refused).toMatchObject({ status: 400, body: expect.stringContaining('"reason":"BadRequest"') })
  })

  it('answers pings', async () => {
    const { client } = dial(`${configMaps}?watch=1`)
    await new Promise((resolve) => client.once('open', resolve))
    const answered = new Promise((resolve) => client.once('pong', resolve))
    client.ping()
    await answered
  })
})

describe('misbehaving WebSocket clients', () => {
  const handshake = 'Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://h\r\nSec-WebSocket-Version: 13\r\n'
  let ended: Promise<void>
  let pulled: number

  beforeEach(async () => {
    pulled = 0
    let resolveEnded = () => {}
    ended = new Promise((resolve) => (resolveEnded = resolve))
    async function* events(signal: AbortSignal) {
      try {
        while (!signal.aborted) {
          yield Buffer.from(`{"n":${pulled++},"filler":"${'x'.repeat(60_000)}"}\n`)
          // Unlike a real watch, this stream always has a next event.
          await sleep(1, undefined, { signal }).catch(() => undefined)
        }
      } finally {
        resolveEnded()
      }
    }
    server = await listenPlain((request) =>
      request.path === '/plain'
        ? textResponse('no')
        : {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: { kind: 'stream', stream: events(request.signal) },
          },
    )
  })

  it('get a 400 for an invalid handshake, and the stream is cancelled', async () => {
    const client = new RawClient(server!.port)
    open.push({ close: () => client.socket.destroy() })
    client.send(`GET /w HTTP/1.1\r\nHost: h\r\n${handshake}\r\n`)
    await client.closed
    expect(client.received).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('end the stream when they disconnect without a handshake', async () => {
    const { client, until } = dial('/w')
    await until(1)
    client.terminate()
    await ended
  })

  it('are closed with 1002 for a frame without a mask', async () => {
    const client = new RawClient(server!.port)
    open.push({ close: () => client.socket.destroy() })
    client.send(`GET /w HTTP/1.1\r\nHost: h\r\n${handshake}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
    await client.until('HTTP/1.1 101 ')
    client.send('\x81\x01a')
    await client.until('\x88\x02\x03\xea')
    await ended
  })

  it('are closed above the message limit', async () => {
    const { client, until, closed } = dial('/w')
    await until(1)
    client.send('x'.repeat(100_000))
    expect(await closed).toBe(1009)
    await ended
  })

  it('pause the stream while they do not read', async () => {
    const client = new RawClient(server!.port)
    open.push({ close: () => client.socket.destroy() })
    client.send(`GET /w HTTP/1.1\r\nHost: h\r\n${handshake}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`)
    await client.until('HTTP/1.1 101 ')
    expect(client.received).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    client.socket.pause()
    let before = -1
    for (let look = 0; look < 40 && before !== pulled; look++) {
      before = pulled
      await sleep(100)
    }
    expect(pulled).toBe(before)
  })
})
