import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { createProxyTransport, type Listener, listen, selfSigned } from '@krmkit/http'
import { systemClock } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'

/** The proxy between real sockets: a client over HTTP/1.1 or HTTP/2, the server, and a backend over HTTP. */

const pod = '/api/v1/namespaces/default/pods/p'
const prefix = `${pod}/proxy`
const requestTimeoutMs = 1_000

const folder = temporaryFolder()
let server: EmbeddedServer
let listener: Listener
let session: ClientHttp2Session
let backend: Server
let handle: RequestListener
const transport = createProxyTransport()
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })

beforeAll(async () => {
  backend = createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const { port } = backend.address() as AddressInfo
  // The backend listens on loopback, whose addresses are refused: the address of the pod is mapped to it.
  const dial = () => ({ host: '127.0.0.1', port })
  server = await createApiServer({
    storage: memoryStorage({ clock: systemClock }),
    proxy: { transport, dial },
    limits: { requestTimeoutMs },
  })
  listener = await listen(server, { port: 0, tls: selfSigned(folder) })
  session = connectHttp2(listener.url, { rejectUnauthorized: false })
  const json = { 'content-type': 'application/json' }
  const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] } }
  await http1('/api/v1/namespaces/default/pods', { method: 'POST', headers: json }, JSON.stringify(body))
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } }
  await http1(`${pod}/status`, patch, JSON.stringify({ status: { podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] } }))
})
afterAll(async () => {
  session.destroy()
  agent.destroy()
  await listener.close({ graceMs: 50 })
  await server.close()
  transport[Symbol.dispose]()
  backend.closeAllConnections()
  await new Promise((resolve) => backend.close(resolve))
})

interface Received {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

function open(path: string, options: RequestOptions = {}) {
  return httpsRequest(`${listener.url}${path}`, { agent, ...options })
}

async function http1(path: string, options: RequestOptions = {}, body?: string): Promise<Received> {
  const request = open(path, options).end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await textOf(response) }
}

async function http2(path: string, options: RequestOptions = {}, body?: string): Promise<Received> {
  const headers = { ':path': path, ':method': options.method ?? 'GET', ...(options.headers as Record<string, string>) }
  const stream = session.request(headers, { endStream: false }).end(body)
  const [answer] = (await once(stream, 'response')) as [Record<string, unknown>]
  return { status: answer[':status'] as number, headers: answer, text: await textOf(stream) }
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}

const echo: RequestListener = async (request, response) => {
  const { method, url, headers } = request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method, url, headers, body: await textOf(request) }))
}

function leave(client: ClientRequest | ClientHttp2Stream): void {
  if ('rstCode' in client) client.close(constants.NGHTTP2_CANCEL)
  else client.destroy()
}

/** Resolves when the backend loses its client. */
function closed(message: IncomingMessage): Promise<unknown> {
  return new Promise((resolve) => message.socket.once('close', resolve))
}

describe.each([
  ['HTTP/1.1', http1],
  ['HTTP/2', http2],
])('the proxy over %s', (protocol, send) => {
  beforeEach(() => {
    handle = echo
  })

  it('passes method, path, headers and body on [P152]', async () => {
    const options = { method: 'PUT', headers: { 'x-a': 'b', authorization: 'Bearer x', 'content-type': 'text/plain' } }
    const { status, text } = await send(`${prefix}/a%20b/?c=d`, options, 'body')
    const { host } = new URL(listener.url)
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { method: 'PUT', url: '/a%20b/?c=d', body: 'body', headers: { host, 'x-a': 'b', 'x-forwarded-for': '127.0.0.1' } },
    ])
    expect(JSON.parse(text).headers).not.toHaveProperty('authorization')
  })

  it('passes responses without a body on [P152]', async () => {
    handle = (request, response) => response.writeHead(Number(request.url?.slice(1)), { 'x-a': 'b' }).end()
    for (const status of [204, 304, 404, 500]) {
      expect(await send(`${prefix}/${status}`), `${status}`).toMatchObject({ status, text: '', headers: { 'x-a': 'b' } })
    }
    expect(await send(`${prefix}/200`, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })

  it('waits for a slow backend beyond the time limit of requests [P152]', async () => {
    handle = (_, response) => setTimeout(() => response.end('late'), requestTimeoutMs + 200)
    expect(await send(`${prefix}/`)).toMatchObject({ status: 200, text: 'late' })
  })

  it('interrupts the response when the backend does [P152]', async () => {
    handle = (request, response) => {
      response.write('begin')
      setTimeout(() => request.socket.destroy(), 20)
    }
    await expect(send(`${prefix}/`)).rejects.toThrow()
  })

  it('reads no more of a response than its client [P152]', async () => {
    let written = 0
    let gone: Promise<unknown> | undefined
    handle = (request, response) => {
      gone = closed(request)
      const piece = Buffer.alloc(64 * 1024)
      const more = () => {
        while (!response.destroyed && written < 1 << 30) {
          written += piece.length
          if (!response.write(piece)) return void response.once('drain', more)
        }
      }
      more()
    }
    const client =
      protocol === 'HTTP/2'
        ? session.request({ ':path': `${prefix}/` })
        : open(`${prefix}/`, { agent: false as never, rejectUnauthorized: false }).end()
    const [response] = await once(client, 'response')
    if (protocol === 'HTTP/1.1') response.on('error', () => undefined)
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(written).toBeLessThan(64 * 1024 * 1024)
    leave(client.on('error', () => undefined))
    await gone
  })

  it('ends the request to the backend when the client disconnects [P152]', async () => {
    let arrived: (message: IncomingMessage) => void = () => undefined
    const request = new Promise<IncomingMessage>((resolve) => {
      arrived = resolve
    })
    handle = (message) => arrived(message)
    const client = protocol === 'HTTP/2' ? session.request({ ':path': `${prefix}/` }) : open(`${prefix}/`).end()
    client.on('error', () => undefined)
    const gone = closed(await request)
    client.destroy()
    await gone
  })

  it('reads no more of a request than the backend [P152]', async () => {
    let arrived: (message: IncomingMessage) => void = () => undefined
    const request = new Promise<IncomingMessage>((resolve) => {
      arrived = resolve
    })
    handle = (message) => arrived(message.pause())
    const path = `${prefix}/`
    const client = protocol === 'HTTP/2' ? session.request({ ':path': path, ':method': 'POST' }) : open(path, { method: 'POST' })
    client.on('error', () => undefined)
    const piece = Buffer.alloc(64 * 1024)
    let taken = 0
    const more = (): void => {
      while (taken < 1 << 30 && !client.destroyed) {
        taken += piece.length
        if (!client.write(piece)) return void client.once('drain', more)
      }
    }
    more()
    await request
    let before = -1
    while (before !== taken) {
      before = taken
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(taken).toBeLessThan(64 * 1024 * 1024)
    const gone = closed(await request)
    client.destroy()
    ;(await request).on('error', () => undefined).resume()
    await gone
  })
})

describe('a tunnel through the proxy', () => {
  const upgrade = { connection: 'Upgrade', upgrade: 'echo' }
  let sockets: Duplex[]
  beforeEach(() => {
    sockets = []
    backend.on('upgrade', (request, socket, head) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      if (request.url === '/refuse') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello `)
      socket.write(head)
      socket.pipe(socket)
    })
  })
  afterEach(() => {
    backend.removeAllListeners('upgrade')
  })

  const dial = async (path = '/') => {
    const request = open(`${prefix}${path}`, { headers: upgrade }).end()
    const [response, socket, head] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex, Buffer]
    let text = head.toString()
    socket.on('data', (piece: Buffer) => {
      text += piece
    })
    const received = async (expected: string) => {
      while (text !== expected) await once(socket, 'data')
    }
    return { response, socket, received }
  }

  it('carries bytes both ways [P152]', async () => {
    const { response, socket, received } = await dial()
    expect([response.statusCode, response.headers.upgrade]).toEqual([101, 'echo'])
    socket.write('a')
    await received('hello a')
    const large = 'x'.repeat(1_000_000)
    socket.write(large)
    await received(`hello a${large}`)
    socket.destroy()
  })

  it('closes with either side [P152]', async () => {
    const first = await dial()
    await first.received('hello ')
    const backendGone = once(sockets[0] as Duplex, 'close')
    first.socket.destroy()
    await backendGone
    const second = await dial()
    await second.received('hello ')
    const clientGone = once(second.socket, 'close')
    sockets[1]?.destroy()
    await clientGone
  })

  it('is not opened when the backend refuses [P152]', async () => {
    expect(await http1(`${prefix}/refuse`, { headers: upgrade })).toMatchObject({ status: 403, text: 'no' })
  })
})
