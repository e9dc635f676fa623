import { createServer as createHttpServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ApiResponse } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import type { ContainerBehavior } from './interfaces.ts'
import type { ReadonlyPod } from './objects.ts'
import { PodRuntime } from './pod-runtime.ts'
import { openPortForward } from './port-forward.ts'
import { controlFrame, dataFrame, type Frame, FrameReader, frameTypes, numbers } from './spdy/frames.ts'
import { HeaderEncoder } from './spdy/header-block.ts'

const pod: ReadonlyPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: {
    containers: [
      { name: 'proxy', image: 'proxy' },
      { name: 'web', image: 'web', ports: [{ containerPort: 80 }] },
    ],
  },
}

function runtimeOf(behavior: ContainerBehavior): PodRuntime {
  const random = { bytes: (length: number) => new Uint8Array(length), uuid: () => '', number: () => 0 }
  const behaviors = [behavior]
  const runtime = new PodRuntime(pod, { behaviors, random: random as never, podIP: '10.0.0.1', hostIP: '10.0.0.2', nowMs: 0 })
  runtime.advance(pod, 0)
  runtime.advance(pod, 0)
  return runtime
}

const spdyHeaders = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' }
const webSocketHeaders = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }

function open(behavior: ContainerBehavior, headers: Readonly<Record<string, string>> = spdyHeaders, query = ''): ApiResponse {
  const request = { method: 'POST', path: '/portForward/default/web', headers, signal: new AbortController().signal }
  return openPortForward(request, { pod, runtime: runtimeOf(behavior), nowMs: 0, searchParams: new URLSearchParams(query) })
}

function connectionOf({ body }: ApiResponse): Duplex {
  if (body.kind !== 'connection') throw new Error('the connection was not upgraded')
  return body.connection
}

/** A SPDY client: streams 1 and 3 form the first forwarded connection. */
class SpdyClient {
  readonly connection: Duplex
  readonly frames: Frame[] = []
  readonly #reader = new FrameReader()
  readonly #encoder = new HeaderEncoder()

  constructor(response: ApiResponse) {
    this.connection = connectionOf(response)
    this.connection.on('data', (chunk: Buffer) => {
      this.#reader.push(chunk)
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) this.frames.push(frame)
    })
  }

  openStream(id: number, headers: Readonly<Record<string, string>>): void {
    const payload = Buffer.concat([numbers(id, 0), Buffer.alloc(2), this.#encoder.encode(headers)])
    this.connection.write(controlFrame(frameTypes.synStream, payload))
  }

  connect(port: number, request = 0): void {
    const headers = { port: String(port), requestid: String(request) }
    this.openStream(4 * request + 1, { ...headers, streamtype: 'error' })
    this.openStream(4 * request + 3, { ...headers, streamtype: 'data' })
  }

  dataOf(streamId: number): string {
    return this.frames.flatMap((frame) => (frame.kind === 'data' && frame.streamId === streamId ? [frame.payload] : [])).join('')
  }

  typesOf(streamId: number): readonly (number | 'data' | 'fin')[] {
    return this.frames.flatMap((frame): (number | 'data' | 'fin')[] => {
      if (frame.kind === 'control') return frame.payload.readUInt32BE(0) === streamId ? [frame.type] : []
      if (frame.streamId !== streamId) return []
      return [frame.flags === 1 ? 'fin' : 'data']
    })
  }
}

const { synReply, rstStream, ping } = frameTypes

const echo: ContainerBehavior = {
  async portForward({ connection, port, container }) {
    connection.write(`${container}:${port} `)
    for await (const chunk of connection) connection.write(chunk)
  },
}

describe('port-forward', () => {
  it('connects each pair of streams to a port, and closes them when the client disconnects', async () => {
    const response = open(echo)
    expect(response).toMatchObject({
      status: 101,
      headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' },
    })
    const client = new SpdyClient(response)
    client.connect(80)
    client.connect(81, 1)
    client.connection.write(dataFrame(3, Buffer.from('one')))
    client.connection.write(dataFrame(7, Buffer.from('two')))
    await expect.poll(() => [client.dataOf(3), client.dataOf(7)]).toEqual(['web:80 one', 'proxy:81 two'])
    client.connection.write(dataFrame(3, Buffer.alloc(0), 1))
    await expect.poll(() => [client.typesOf(1), client.typesOf(3).at(-1)]).toEqual([[synReply, 'fin'], 'fin'])
    expect(client.typesOf(3)[0]).toBe(synReply)
  })

  it('reports why a connection is refused or fails', async () => {
    const refused = new SpdyClient(open({}))
    refused.connect(80)
    const failed = new SpdyClient(open({ portForward: () => Promise.reject(new Error('no listener')) }))
    failed.connect(80)
    const prefix = 'error forwarding port 80 to pod web, uid u: '
    await expect.poll(() => refused.dataOf(1)).toBe(`${prefix}failed to connect to localhost:80: connect: connection refused`)
    await expect.poll(() => failed.dataOf(1)).toBe(`${prefix}no listener`)
    expect(failed.typesOf(3)).toEqual([synReply, rstStream])
  })

  it('answers pings, and refuses streams without a port or a type', async () => {
    const client = new SpdyClient(open(echo))
    client.connection.write(controlFrame(ping, numbers(1)))
    client.openStream(5, { streamtype: 'data' })
    client.openStream(7, { port: '80', streamtype: 'other' })
    client.openStream(9, { port: '70000', streamtype: 'data' })
    await expect.poll(() => [1, 5, 7, 9].map((id) => client.typesOf(id))).toEqual([[ping], [rstStream], [rstStream], [rstStream]])
  })

  it('ends the connections of a client that leaves or violates the protocol', async () => {
    const signals: AbortSignal[] = []
    const behavior: ContainerBehavior = { portForward: ({ signal }) => void signals.push(signal) }
    const leaving = new SpdyClient(open(behavior))
    leaving.connect(80)
    const wrong = new SpdyClient(open(behavior))
    wrong.connect(80)
    await expect.poll(() => signals.length).toBe(2)
    leaving.connection.destroy()
    wrong.connection.write(Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0]))
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true, true])
    await expect.poll(() => wrong.connection.readableEnded).toBe(true)
  })

  it('waits for a slow reader', async () => {
    const behavior: ContainerBehavior = { portForward: () => undefined }
    const client = new SpdyClient(open(behavior))
    client.connect(80)
    const big = Buffer.alloc(1 << 20)
    expect([client.connection.write(dataFrame(3, big)), client.connection.write(dataFrame(3, big))]).toEqual([false, false])
    expect(client.connection.writableLength).toBeGreaterThan(big.length)
  })

  it('can be served by an HTTP server of a test', async () => {
    const server = createHttpServer((request, response) => response.end(`path ${request.url}`))
    const client = new SpdyClient(open({ portForward: ({ connection }) => void server.emit('connection', connection) }))
    client.connect(80)
    client.connection.write(dataFrame(3, Buffer.from('GET /a HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n')))
    await expect.poll(() => client.dataOf(3)).toContain('path /a')
    await expect.poll(() => client.typesOf(3).at(-1)).toBe('fin')
  })

  it('uses the channels of a WebSocket', async () => {
    const headers = { ...webSocketHeaders, 'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io' }
    const behavior: ContainerBehavior = { portForward: ({ connection, port }) => void connection.end(`port ${port}`) }
    const response = open(behavior, headers, 'port=80%2C81')
    expect(response).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'v4.channel.k8s.io' } })
    const received = await text(connectionOf(response).end())
    for (const part of ['\0P\0', '\x01P\0', '\x02Q\0', '\x03Q\0', '\0port 80', '\x02port 81']) expect(received).toContain(part)
  })

  it('tunnels SPDY through a WebSocket', async () => {
    const response = open(echo, { ...webSocketHeaders, 'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io' })
    expect(response).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io' } })
    const connection = connectionOf(response)
    const received: Buffer[] = []
    connection.on('data', (chunk: Buffer) => received.push(chunk))
    const frame = controlFrame(ping, numbers(1))
    // The mask is zero.
    connection.write(Buffer.concat([Buffer.from([0x82, 0x80 | frame.length, 0, 0, 0, 0]), frame]))
    await expect.poll(() => Buffer.concat(received)).toEqual(Buffer.concat([Buffer.from([0x82, frame.length]), frame]))
    connection.destroy()
  })

  it.each([
    [403, { ...spdyHeaders, 'x-stream-protocol-version': 'other' }, ''],
    [400, { ...webSocketHeaders, 'sec-websocket-protocol': 'other' }, ''],
    [400, { ...webSocketHeaders, 'sec-websocket-protocol': 'v4.channel.k8s.io' }, 'port=x'],
    [400, { connection: 'Upgrade', upgrade: 'h2c' }, ''],
  ])('is refused with %i for %j', (status, headers, query) => {
    expect(open(echo, headers, query).status).toBe(status)
  })
})
