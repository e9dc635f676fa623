import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import type { ApiResponse } from '@krmkit/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acceptConnections } from './accept.ts'
import { listen } from './listen.ts'
import { createProxyTransport } from './proxy-transport.ts'
import { selfSigned } from './self-signed.ts'
import { listenPlain, textResponse, withErrorResponses } from './testing/fake-server.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
})
afterEach(() => rm(directory, { recursive: true }))

/** Two listeners that alternately serve the connections of a third port. */
async function twoServers(handle: (name: string) => Promise<ApiResponse>) {
  const ticketKeys = new Uint8Array(48).fill(7)
  const tls = selfSigned(directory)
  const serves: ((socket: Socket, onClosed: () => void) => void)[] = []
  const closed: string[] = []
  const listeners = []
  for (const name of ['a', 'b']) {
    const passed = { ticketKeys, receive: (serve: (typeof serves)[number]) => void serves.push(serve) }
    listeners.push(await listen({ handle: withErrorResponses(() => handle(name)) }, { port: 1, passed, tls }))
  }
  let next = 0
  const accepting = await acceptConnections(
    (socket) => {
      const index = next++ % 2
      serves[index]?.(socket, () => closed.push('ab'[index] ?? ''))
    },
    { tls },
  )
  return { accepting, listeners, closed }
}

async function get(port: number, session?: Buffer): Promise<{ text: string; socket: TLSSocket; session: Buffer | undefined }> {
  const socket = connect({ port, rejectUnauthorized: false, ...(session === undefined ? {} : { session }) })
  const ticket = new Promise<Buffer>((resolve) => socket.once('session', resolve))
  socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  await expect.poll(() => text).toMatch(/\r\n\r\n./)
  return { text, socket, session: session ?? (await ticket) }
}

describe('passed connections', () => {
  it('are served over TLS, and a session is resumed by another server', async () => {
    const { accepting, listeners, closed } = await twoServers(async (name) => textResponse(`from ${name}`))
    const first = await get(accepting.port)
    expect(first.text).toContain('from a')
    const second = await get(accepting.port, first.session)
    expect([second.text.includes('from b'), second.socket.isSessionReused()]).toEqual([true, true])
    first.socket.destroy()
    second.socket.destroy()
    await expect.poll(() => closed.toSorted()).toEqual(['a', 'b'])
    await accepting.close()
    await Promise.all(listeners.map((listener) => listener.close()))
  })

  it('finish their requests before close resolves', async () => {
    let answer: ((response: ApiResponse) => void) | undefined
    const { accepting, listeners } = await twoServers(() => new Promise((resolve) => (answer = resolve)))
    const reading = get(accepting.port)
    await expect.poll(() => answer).toBeDefined()
    await accepting.close()
    let isClosed = false
    const closing = Promise.all(listeners.map((listener) => listener.close())).then(() => {
      isClosed = true
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(isClosed).toBe(false)
    answer?.(textResponse('late but whole'))
    expect((await reading).text).toContain('late but whole')
    await closing
  })
})

it('a Unix socket is listened on, and reached by the proxy transport', async () => {
  const path = join(directory, 'http.sock')
  await using listener = await listenPlain(({ path: requested }) => textResponse(`at ${requested}`), { path })
  expect(listener.port).toBe(0)
  using transport = createProxyTransport()
  const connection = transport.open({ origin: 'http://writer', socketPath: path })
  const { body } = await connection.send({ method: 'GET', path: '/x', headers: {}, signal: new AbortController().signal })
  const chunks: Uint8Array[] = []
  if (body.kind === 'stream') for await (const chunk of body.stream) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString()).toBe('at /x')
})
