import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Listener } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { withErrorResponses } from './testing/fake-server.ts'

/** One connection serves requests of all sizes up to the largest body, back to back and pipelined. Each request gets its response. */

const mebibyte = 1024 * 1024
const requests = 2000
const methods = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE']
const filler = Buffer.alloc(3 * mebibyte, 'x')

let directory: string
let server: Listener | undefined
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(async () => {
  await server?.close({ graceMs: 50 })
  server = undefined
})

/** Size of the body of a request and of its response: mostly kilobytes, some of 3 MiB, some empty. */
function sizeOf(index: number): number {
  if (index % 250 === 249) return filler.length
  return index % 10 === 0 ? 0 : (index * 7919) % (index % 3 === 0 ? 170_000 : 20_000)
}

const methodOf = (index: number) => (sizeOf(index) === 0 ? 'GET' : (methods[index % methods.length] as string))

async function respond(request: ApiRequest): Promise<ApiResponse> {
  const body = await request.body(filler.length)
  // Every other response comes in a later turn, like a response that waits for storage.
  if (body.length % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
  return {
    status: 200,
    headers: { 'content-type': 'text/plain', 'x-path': request.path },
    body: { kind: 'bytes', bytes: filler.subarray(0, body.length) },
  }
}

async function start(secure: boolean): Promise<Listener> {
  server = await listen({ handle: withErrorResponses(respond) }, { tls: secure ? selfSigned(directory) : false })
  return server
}

async function dial({ port, authority }: Listener): Promise<Socket> {
  const secure = authority !== undefined
  const socket = secure ? connectTls({ port, host: '127.0.0.1', ca: authority }) : connectTcp(port, '127.0.0.1')
  await new Promise((resolve) => socket.once(secure ? 'secureConnect' : 'connect', resolve))
  return socket.setNoDelay(true)
}

/**
 * Counts the responses of a connection, and checks each against its request. Resolves with the count, also when the connection closes
 * early.
 */
function countResponses(socket: Socket, onResponse: (count: number) => void): Promise<number> {
  return new Promise((resolve) => {
    let count = 0
    let head = ''
    let missing = 0
    const finish = () => {
      count++
      if (count === requests) resolve(count)
      else onResponse(count)
    }
    socket.on('error', () => undefined).on('close', () => resolve(count))
    socket.on('data', (chunk: Buffer) => {
      let at = 0
      while (at < chunk.length) {
        if (missing > 0) {
          const taken = Math.min(missing, chunk.length - at)
          missing -= taken
          at += taken
          if (missing === 0) finish()
          continue
        }
        // A response head may be split between chunks.
        const before = head.length
        head += chunk.toString('latin1', at)
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        at += end + 4 - before
        expect(head).toMatch(/^HTTP\/1.1 200 /)
        expect(head).toContain(`x-path: /${count}\r\n`)
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1])
        expect(missing).toBe(sizeOf(count))
        head = ''
        if (missing === 0) finish()
      }
    })
  })
}

function send(socket: Socket, index: number): boolean {
  const size = sizeOf(index)
  const length = size === 0 ? '' : `Content-Length: ${size}\r\n`
  socket.cork()
  socket.write(`${methodOf(index)} /${index} HTTP/1.1\r\nHost: h\r\n${length}\r\n`)
  const isBelowMark = socket.write(filler.subarray(0, size))
  socket.uncork()
  return isBelowMark
}

describe.each([
  ['plain', false],
  ['TLS', true],
])('a kept-alive connection of HTTP/1.1 (%s)', (_, secure) => {
  it('answers requests that immediately follow a response', async () => {
    const socket = await dial(await start(secure))
    const answered = countResponses(socket, (count) => send(socket, count))
    send(socket, 0)
    expect(await answered).toBe(requests)
    socket.destroy()
  })

  it('answers every pipelined request, also to a client that reads slowly', async () => {
    const socket = await dial(await start(secure))
    const answered = countResponses(socket, (count) => {
      if (count % 100 !== 0) return
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    })
    let onDrain = () => {}
    socket.on('drain', () => onDrain()).on('close', () => onDrain())
    for (let index = 0; index < requests && !socket.destroyed; index++) {
      const drained = new Promise<void>((resolve) => {
        onDrain = resolve
      })
      if (!send(socket, index) && !socket.destroyed) await drained
    }
    expect(await answered).toBe(requests)
    socket.destroy()
  })
})

describe('a connection of HTTP/2', () => {
  it('answers every request', async () => {
    const { url, authority } = await start(true)
    const session = connectHttp2(url, { ca: authority! })
    const ask = (index: number) =>
      new Promise<number>((resolve, reject) => {
        const size = sizeOf(index)
        const stream = session.request({ ':path': `/${index}`, ':method': methodOf(index) }, { endStream: size === 0 })
        let received = 0
        stream.on('data', (chunk: Buffer) => {
          received += chunk.length
        })
        stream.on('error', reject).on('end', () => resolve(received))
        if (size > 0) stream.end(filler.subarray(0, size))
      })
    for (let index = 0; index < requests; index += 20) {
      const indices = Array.from({ length: 20 }, (_, i) => index + i)
      expect(await Promise.all(indices.map(ask))).toEqual(indices.map(sizeOf))
    }
    session.destroy()
  })
})
