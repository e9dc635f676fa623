import * as grpc from '@grpc/grpc-js'
import { encodeFields } from '@krmkit/base/hpack'
import { MessageType } from '@krmkit/base/protobuf'
import { afterEach, describe, expect, it } from 'vitest'
import { Endpoints, type RpcMethod } from './endpoints.ts'
import { Connection } from './http2/connection.ts'
import { type Frame, frameFlag, frameType, setting } from './http2/frames.ts'
import { parseTarget } from './target.ts'
import { endsRequest, type FrameConnection, FrameServer, framed, responseHeaders } from './testing/frame-server.ts'

interface Value {
  readonly value: Uint8Array
}
const value = new MessageType<Value>({ 1: ['value', 'bytes'] })
const method: RpcMethod<Value, Value> = { path: '/test.Echo/Call', request: value, response: value }
const answer = value.encode({ value: Buffer.from('answer') })
const answered = { value: new Uint8Array(Buffer.from('answer')) }

const open: { close(): void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

function endpointsOf(...urls: readonly string[]): Endpoints {
  const endpoints = new Endpoints(urls, { what: 'server' })
  open.push(endpoints)
  return endpoints
}

function call(endpoints: Endpoints, bytes = 'request', options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  return endpoints.call(method, { value: Buffer.from(bytes) }, { timeoutMs: 5000, ...options })
}

function number(bytes: number): Buffer {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return payload
}

const last = frameFlag.endHeaders | frameFlag.endStream

/** Starts a server that answers each call by a function of its stream and of the number of earlier calls. */
async function answering(
  answerCall: (connection: FrameConnection, stream: number, before: number) => void,
): Promise<FrameServer> {
  let calls = 0
  return FrameServer.start((frame, connection) => {
    if (endsRequest(frame)) answerCall(connection, frame.stream, calls++)
  })
}

describe('calls to a server of another implementation of HTTP/2', () => {
  const start = async (reply: grpc.handleUnaryCall<Value, Value>) => {
    const server = new grpc.Server({ 'grpc.max_receive_message_length': -1 })
    const echo = { path: method.path, requestStream: false, responseStream: false } as const
    const encode = (each: Value) => value.encode(each)
    const decode = (bytes: Buffer) => value.decode(bytes)
    const codecs = {
      requestSerialize: encode,
      responseSerialize: encode,
      requestDeserialize: decode,
      responseDeserialize: decode,
    }
    server.addService({ call: { ...echo, ...codecs } }, { call: reply })
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure()
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)))
    })
    open.push({ close: () => server.forceShutdown() })
    return endpointsOf(`http://127.0.0.1:${port}`)
  }

  it('carry messages of every size, many at once', async () => {
    const endpoints = await start((request, respond) => respond(null, request.request))
    const sizes = [0, 1, 16_000, 16_384, 70_000, 6_000_000, ...Array.from({ length: 50 }, (_, at) => at * 999)]
    await Promise.all(
      sizes.map(async (size) => {
        const sent = Buffer.alloc(size, size % 251)
        const got = await endpoints.call(method, { value: sent }, { timeoutMs: 20_000 })
        expect(Buffer.compare(got.value, sent)).toBe(0)
      }),
    )
  })

  it('fail with the status and the text of the server', async () => {
    const endpoints = await start((_request, respond) =>
      respond({ code: grpc.status.FAILED_PRECONDITION, details: 'größer als 100 %' }),
    )
    await expect(call(endpoints)).rejects.toMatchObject({ status: 9, message: 'größer als 100 %', unsent: false })
  })

  it('send their deadline to the server', async () => {
    const deadlines: unknown[] = []
    const endpoints = await start((request) => deadlines.push(request.getDeadline()))
    const before = Date.now()
    await expect(call(endpoints, 'x', { timeoutMs: 400 })).rejects.toMatchObject({ status: 4 })
    expect(Number(deadlines[0]) - before).toBeGreaterThan(200)
    expect(Number(deadlines[0]) - before).toBeLessThan(1500)
  })
})

describe('calls', () => {
  it('are repeated when the server refuses the stream, or sends GOAWAY before it', async () => {
    await using server = await answering((connection, stream, before) => {
      if (before === 0) connection.send(frameType.resetStream, stream, { payload: number(7) })
      else if (before === 1) connection.send(frameType.goAway, 0, { payload: Buffer.alloc(8) })
      else connection.respond(stream, answer)
    })
    expect(await call(endpointsOf(server.url))).toEqual(answered)
    expect(server.connections.length).toBe(2)
  })

  it('are not repeated when the server may have processed them', async () => {
    let calls = 0
    await using server = await answering((connection) => {
      calls++
      connection.socket.destroy()
    })
    await expect(call(endpointsOf(server.url))).rejects.toMatchObject({ status: 14, unsent: false })
    expect(calls).toBe(1)
  })

  it('complete on a connection after GOAWAY, while new ones go to another', async () => {
    const first: { connection: FrameConnection; stream: number }[] = []
    await using server = await answering((connection, stream, before) => {
      if (before > 0) return connection.respond(stream, answer)
      first.push({ connection, stream })
      connection.send(frameType.goAway, 0, { payload: Buffer.concat([number(stream), number(0)]) })
    })
    const endpoints = endpointsOf(server.url)
    const running = call(endpoints)
    await expect.poll(() => first.length).toBe(1)
    await new Promise((resolve) => first[0]?.connection.socket.write(Buffer.alloc(0), resolve))
    await expect.poll(() => call(endpoints).then(() => server.connections.length)).toBe(2)
    first[0]?.connection.respond(first[0].stream, answer)
    expect(await running).toEqual(answered)
  })

  it('wait for stream slots and for flow-control windows', async () => {
    let open = 0
    let most = 0
    const received = new Map<number, number>()
    const onFrame = (frame: Frame, connection: FrameConnection) => {
      if (frame.type === frameType.headers) most = Math.max(most, ++open)
      if (frame.type !== frameType.data) return
      received.set(frame.stream, (received.get(frame.stream) ?? 0) + frame.payload.length)
      for (const stream of [0, frame.stream]) {
        connection.send(frameType.windowUpdate, stream, { payload: number(Math.max(1, frame.payload.length)) })
      }
      if (!endsRequest(frame)) return
      open--
      connection.respond(frame.stream, answer)
    }
    const settings = [
      [setting.maxConcurrentStreams, 2],
      [setting.initialWindow, 100],
    ] as const
    await using server = await FrameServer.start(onFrame, settings)
    const endpoints = endpointsOf(server.url)
    const results = await Promise.all(Array.from({ length: 9 }, () => call(endpoints, 'x'.repeat(1000))))
    expect(results).toEqual(Array.from({ length: 9 }, () => answered))
    expect(most).toBe(2)
    expect([...received.values()]).toEqual(Array.from({ length: 9 }, () => 1008))
  })

  it('read fragmented header blocks, padded data and fragmented messages', async () => {
    await using server = await answering((connection, stream) => {
      const block = encodeFields([...responseHeaders, ['more', 'x'.repeat(300)]])
      connection.headers(stream, [[':status', '103']])
      connection.send(frameType.headers, stream, { payload: block.subarray(0, 20) })
      connection.send(frameType.continuation, stream, { payload: block.subarray(20, 100) })
      connection.send(frameType.continuation, stream, { flags: frameFlag.endHeaders, payload: block.subarray(100) })
      for (const byte of framed(answer)) {
        connection.send(frameType.data, stream, { flags: frameFlag.padded, payload: Buffer.of(3, byte, 0, 0, 0) })
      }
      connection.headers(stream, [['grpc-status', '0']], last)
    })
    expect(await call(endpointsOf(server.url))).toEqual(answered)
  })

  it.each<[string, number, (connection: FrameConnection, stream: number) => void]>([
    ['a reset', 13, (connection, stream) => connection.send(frameType.resetStream, stream, { payload: number(2) })],
    ['no status', 2, (connection, stream) => connection.headers(stream, responseHeaders, last)],
    [
      'a page of a proxy',
      14,
      (connection, stream) =>
        connection.headers(
          stream,
          [
            [':status', '503'],
            ['content-type', 'text/html'],
          ],
          last,
        ),
    ],
    ['data before headers', 2, (connection, stream) => connection.send(frameType.data, stream, { payload: framed(answer) })],
    ['a message that is no message', 13, (connection, stream) => connection.respond(stream, Buffer.of(0x0a, 99))],
    ['a frame that is too long', 14, (connection) => connection.socket.write(Buffer.from('ffffff000000000000', 'hex'))],
    [
      'a damaged header block',
      14,
      (connection, stream) => connection.send(frameType.headers, stream, { flags: last, payload: Buffer.of(0xff) }),
    ],
    ['a pushed stream', 14, (connection, stream) => connection.send(frameType.pushPromise, stream, { payload: Buffer.alloc(4) })],
    [
      'a window beyond the largest',
      14,
      (connection) => connection.send(frameType.windowUpdate, 0, { payload: number(2 ** 31 - 1) }),
    ],
  ])('fail after %s with status %d, and may have had an effect', async (_what, status, respond) => {
    await using server = await answering(respond)
    await expect(call(endpointsOf(server.url))).rejects.toMatchObject({ name: 'RpcError', status, unsent: false })
  })

  it('reset their stream when they are cancelled or time out; the connection stays open', async () => {
    await using server = await answering((connection, stream, before) => {
      if (before === 2) connection.respond(stream, answer)
    })
    const endpoints = endpointsOf(server.url)
    await expect(call(endpoints, 'late', { timeoutMs: 100 })).rejects.toMatchObject({ status: 4, unsent: false })
    const controller = new AbortController()
    const cancelled = call(endpoints, 'cancelled', { signal: controller.signal })
    await expect.poll(() => server.connections[0]?.sent(frameType.headers).length).toBe(2)
    controller.abort()
    await expect(cancelled).rejects.toMatchObject({ status: 1 })
    expect(await call(endpoints)).toEqual(answered)
    const resets = server.connections[0]
      ?.sent(frameType.resetStream)
      .map(({ stream, payload }) => [stream, payload.readUInt32BE()])
    expect(resets).toEqual([
      [1, 8],
      [3, 8],
    ])
    expect(server.connections.length).toBe(1)
  })

  it('go to the next server when one does not speak HTTP/2', async () => {
    await using server = await answering((connection, stream) => connection.respond(stream, answer))
    const { createServer } = await import('node:http')
    const other = createServer().listen(0, '127.0.0.1')
    open.push(other)
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as { port: number }
    expect(await call(endpointsOf(`http://127.0.0.1:${port}`, server.url))).toEqual(answered)
  })
})

describe('a connection', () => {
  it('ends when the server does not answer a ping', async () => {
    await using server = await FrameServer.start(() => undefined)
    const target = parseTarget(server.url, undefined)
    const socket = await target.connect(1000)
    const ended = new Promise<void>((resolve) => {
      const connection = new Connection(socket, {
        target,
        onUnusable: resolve,
        keepaliveMs: 50,
        pingTimeoutMs: 50,
        pingDelayMs: 0,
      })
      open.push(connection)
    })
    await ended
    expect(server.connections[0]?.sent(frameType.ping).length).toBe(1)
  })

  it('stays open while the server answers pings, and answers pings of the server', async () => {
    const answerPing = ({ type, flags, payload }: Frame, connection: FrameConnection) => {
      if (type === frameType.ping && flags === 0) connection.send(frameType.ping, 0, { flags: frameFlag.ack, payload })
    }
    await using server = await FrameServer.start(answerPing)
    const target = parseTarget(server.url, undefined)
    const options = { target, onUnusable: () => undefined, keepaliveMs: 20, pingTimeoutMs: 400, pingDelayMs: 0 }
    const connection = new Connection(await target.connect(1000), options)
    open.push(connection)
    await connection.handshake()
    await expect.poll(() => server.connections[0]?.sent(frameType.ping).length, { timeout: 10_000 }).toBeGreaterThan(1)
    expect(connection.isUsable).toBe(true)
    const payload = Buffer.from('12345678')
    server.connections[0]?.send(frameType.ping, 0, { payload })
    await expect.poll(() => server.connections[0]?.sent(frameType.ping).some((frame) => frame.payload.equals(payload))).toBe(true)
  })
})
