import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { FilteredConnection } from './filtered-connection.ts'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { textResponse, withErrorResponses } from './testing/fake-server.ts'
import { encodeFields, encodeFrame, flags, frameTypes, RawHttp2, requestFields } from './testing/raw-http2.ts'

let directory: string
let server: Listener
const faults: unknown[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
  const handle = withErrorResponses(async (request) => {
    if (request.method === 'POST') return textResponse(`${(await request.body(1e6)).length}`)
    return textResponse('x'.repeat(request.path.length > 1 ? 300_000 : 10))
  })
  server = await listen({ handle }, { tls: selfSigned(directory), onError: (error) => faults.push(error) })
})
afterAll(async () => {
  await server.close({ graceMs: 50 })
  await rm(directory, { recursive: true, force: true })
})

const head = (stream: number, path: string, more: { readonly method?: string; readonly end?: boolean } = {}) => {
  const fields = requestFields.map(([name, value]) =>
    name === ':path'
      ? ([name, path] as const)
      : name === ':method'
        ? ([name, more.method ?? value] as const)
        : ([name, value] as const),
  )
  return encodeFrame(frameTypes.headers, {
    flags: flags.endHeaders | (more.end === false ? 0 : flags.end),
    stream,
    payload: encodeFields(fields),
  })
}

/** Draws the next action of a client; stream numbers increase. */
const steps: Record<string, (stream: number) => Buffer> = {
  small: (stream) => head(stream, '/'),
  large: (stream) => head(stream, '/large'),
  halfBody: (stream) =>
    Buffer.concat([
      head(stream, '/', { method: 'POST', end: false }),
      encodeFrame(frameTypes.data, { stream, payload: Buffer.alloc(1000) }),
    ]),
  reset: (stream) =>
    Buffer.concat([head(stream, '/large'), encodeFrame(frameTypes.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) })]),
  nonsense: () => encodeFrame(frameTypes.headers, { flags: flags.endHeaders, stream: 2, payload: Buffer.from([0xff, 0xff]) }),
  goaway: () => encodeFrame(frameTypes.goaway, { payload: Buffer.alloc(8) }),
}

it('survives clients that disconnect at any moment and serves the next one', async () => {
  const step = fc.constantFrom(...Object.keys(steps))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.boolean(), fc.nat(3), async (names, abrupt, turns) => {
      const client = new RawHttp2(server.port)
      let stream = -1
      for (const name of names) {
        stream += 2
        client.send(steps[name]!(stream))
      }
      for (let i = 0; i < turns; i++)
        await Promise.race([client.arrival(), client.closed, new Promise((go) => setTimeout(go, 5))])
      if (abrupt) client.socket.destroy()
      else client.socket.end()
      await client.closed
    }),
    { numRuns: 150 },
  )
  const session = connectHttp2(server.url, { ca: server.authority! })
  const stream = session.request({ ':path': '/' })
  const answer = await new Promise((resolve) => stream.once('data', resolve))
  session.destroy()
  expect([String(answer), faults]).toEqual(['xxxxxxxxxx', []])
})

it('is destroyed when the client ends the connection, because node would end it while the session still writes', async () => {
  const socket = new PassThrough()
  const connection = new FilteredConnection(socket as unknown as TLSSocket, (chunk) => chunk)
  const closed = new Promise((resolve) => connection.once('close', resolve))
  const ended = vi.fn()
  connection.on('end', ended).resume()
  socket.end()
  await closed
  expect(ended).not.toHaveBeenCalled()
})

it('pauses reading and writing with the other side', async () => {
  const client = new RawHttp2(server.port)
  await client.arrival()
  client.socket.pause()
  for (let stream = 1; stream < 100; stream += 2) client.send(head(stream, '/large'))
  client.send(encodeFrame(frameTypes.window, { payload: Buffer.from([0x7f, 0, 0, 0]) }))
  await new Promise((resolve) => setTimeout(resolve, 50))
  client.socket.resume()
  // Each stream starts with the initial window.
  const initialWindow = 65_535
  while (
    client.frames.filter(({ type }) => type === frameTypes.data).reduce((sum, { payload }) => sum + payload.length, 0) <
    50 * initialWindow
  )
    await client.arrival()
  client.socket.destroy()
})
