import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createProxyTransport } from './proxy-transport.ts'

const proxies = createProxyTransport()
afterAll(() => proxies[Symbol.dispose]())

let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
  server = undefined
})

async function start(listener: RequestListener): Promise<{ readonly host: string; readonly port: number }> {
  const own = createServer(listener)
  server = own
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  return { host: '127.0.0.1', port: (own.address() as AddressInfo).port }
}

const request = { method: 'GET', path: '/a?b=1', headers: { host: 'shop.example.com' }, signal: new AbortController().signal }

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

describe('forwarding over HTTP', () => {
  it('connects to the given address, with the path and the headers of the request [P152]', async () => {
    const address = await start((received, response) => response.end(`${received.url} ${received.headers.host}`))
    const { send } = proxies.open({ origin: 'http://10.1.0.1:8080' })
    const { status, body } = await send({ ...request, address })
    if (body.kind !== 'stream') throw new Error(body.kind)
    expect([status, await textOf(body.stream)]).toEqual([200, '/a?b=1 shop.example.com'])
  })

  it('rejects when the peer does not speak TLS, refuses or hangs up [P152]', async () => {
    const address = await start((received) => received.socket.destroy())
    await expect(proxies.open({ origin: 'https://10.1.0.1:8080', insecure: true }).send({ ...request, address })).rejects.toThrow(
      'tls: first record does not look like a TLS handshake',
    )
    await expect(proxies.open({ origin: 'http://10.1.0.1:8080' }).send({ ...request, address })).rejects.toThrow('EOF')
    server?.close()
    await expect(proxies.open({ origin: 'http://10.1.0.1' }).send({ ...request, address })).rejects.toThrow(
      `dial tcp 127.0.0.1:${address.port}: connect: connection refused`,
    )
  })

  it('rejects a request whose path or header would break the message [P152]', async () => {
    const address = await start((_, response) => response.end())
    const { send } = proxies.open({ origin: 'http://10.1.0.1:8080' })
    await expect(send({ ...request, address, path: '/a\r\nx: y' })).rejects.toThrow()
    await expect(send({ ...request, address, headers: { 'x-a': 'b\r\nx: y' } })).rejects.toThrow()
  })

  it('rejects a response head above the limit, or that is malformed [P152]', async () => {
    const address = await start((received, response) => {
      if (received.url === '/large') response.writeHead(200, { 'x-large': 'a'.repeat(2 * 1024 * 1024) }).end()
      else received.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab')
    })
    const { send } = proxies.open({ origin: 'http://10.1.0.1:8080' })
    await expect(send({ ...request, address, path: '/large' })).rejects.toThrow()
    await expect(send({ ...request, address, path: '/lengths' })).rejects.toThrow()
  })

  it('resolves host names [P152]', async () => {
    expect(await proxies.lookup?.('127.0.0.1')).toEqual(['127.0.0.1'])
    await expect(proxies.lookup?.('no-such-host.invalid')).rejects.toThrow('lookup no-such-host.invalid: no such host')
  })
})
