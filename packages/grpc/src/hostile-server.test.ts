import { MessageType } from '@krmkit/base/protobuf'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Endpoints, type RpcMethod } from './endpoints.ts'
import { frameFlag, frameType } from './http2/frames.ts'
import { RpcError } from './rpc-error.ts'
import { endsRequest, type FrameConnection, FrameServer, framed, responseHeaders } from './testing/frame-server.ts'

interface Value {
  readonly value: Uint8Array
}
const value = new MessageType<Value>({ 1: ['value', 'bytes'] })
const method: RpcMethod<Value, Value> = { path: '/test.Echo/Call', request: value, response: value }
const answer = value.encode({ value: Buffer.from('answer') })

/** Actions of a hostile server: frames with any type, flags, stream and payload, or bytes that are not frames. */
const types = [...Object.values(frameType), 2, 10, 255]
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    ...[framed(answer), framed(answer).subarray(0, 7), Buffer.alloc(4), Buffer.alloc(8), Buffer.from([0x7f, 0xff, 0xff, 0xff])],
    Buffer.from([1, 0, 0, 0, 1, 0]),
    Buffer.from([0, 0xff, 0xff, 0xff, 0xff]),
  ),
)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constantFrom(...types), flags: fc.nat(255), own: fc.boolean(), other: fc.nat(9), payload }),
  },
  { weight: 1, arbitrary: fc.record({ raw: fc.uint8Array({ minLength: 1, maxLength: 60 }) }) },
  { weight: 2, arbitrary: fc.constantFrom('headers', 'answer', 'close') },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function play(connection: FrameConnection, stream: number, todo: Step): void {
  if (connection.socket.destroyed) return
  if (todo === 'headers') connection.headers(stream, responseHeaders)
  else if (todo === 'answer') connection.respond(stream, answer)
  else if (todo === 'close') connection.socket.destroy()
  else if ('raw' in todo) connection.socket.write(todo.raw)
  else connection.send(todo.type, todo.own ? stream : todo.other, { flags: todo.flags, payload: Buffer.from(todo.payload) })
}

it('a call to a server that sends anything ends in time, with the response or an RpcError', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await using server = await FrameServer.start((frame, connection) => {
        if (!endsRequest(frame)) return
        for (const each of steps) play(connection, frame.stream, each)
      })
      const endpoints = new Endpoints([server.url], { what: 'server', failsFast: true })
      try {
        const outcome: unknown = await endpoints
          .call(method, { value: Buffer.from('request') }, { timeoutMs: 150 })
          .catch((error: unknown) => error)
        if (!(outcome instanceof RpcError)) expect(outcome).toHaveProperty('value')
      } finally {
        endpoints.close()
      }
    }),
    { numRuns: 150 },
  )
})

it('the connection to a server whose headers do not end is closed', async () => {
  await using server = await FrameServer.start((frame, connection) => {
    if (!endsRequest(frame)) return
    connection.send(frameType.headers, frame.stream, { payload: Buffer.alloc(16_384, 0x20) })
    for (let i = 0; i < 200; i++) connection.send(frameType.continuation, frame.stream, { payload: Buffer.alloc(16_384, 0x20) })
    connection.send(frameType.continuation, frame.stream, { flags: frameFlag.endHeaders })
  })
  const endpoints = new Endpoints([server.url], { what: 'server' })
  try {
    await expect(endpoints.call(method, {}, { timeoutMs: 2000 })).rejects.toBeInstanceOf(RpcError)
    await expect.poll(() => server.connections[0]!.socket.destroyed).toBe(true)
    expect(server.connections[0]!.sent(frameType.goAway)).toHaveLength(1)
  } finally {
    endpoints.close()
  }
})
