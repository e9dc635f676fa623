import { readFileSync } from 'node:fs'
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRemoteClient, type RemoteOptions } from '../remote.ts'
import { eagerClock, event, Note, noJitter, note } from '../testing/fake-api.ts'
import { type FakeProxy, fakeHttpProxy, fakeSocksProxy, silentProxy } from '../testing/fake-proxy.ts'
import { parseProxyUrl } from './proxy-url.ts'

const pem = (name: string) => readFileSync(new URL(`../../testdata/${name}`, import.meta.url), 'utf8')
const [cert, key] = [pem('one.crt'), pem('one.key')]

const seen: string[] = []
const respond = (request: IncomingMessage, response: ServerResponse) => {
  seen.push(`${request.method} ${request.url} ${request.headers.host} ${request.headers['proxy-authorization']}`)
  response.setHeader('content-type', 'application/json')
  if (request.url?.includes('watch=1')) response.write(event('ADDED', note('a', 6)))
  else response.end(JSON.stringify(note('a', 1)))
}
let secure: Server
let plain: Server
beforeAll(async () => {
  secure = createServer({ cert, key }, respond)
  plain = createPlainServer(respond)
  for (const server of [secure, plain]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  for (const server of [secure, plain]) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => {
  seen.length = 0
})

const portOf = (server: Server) => (server.address() as AddressInfo).port
const connect = (
  options: Partial<RemoteOptions> & { readonly proxyUrl: string },
  server = `https://127.0.0.1:${portOf(secure)}`,
) => createRemoteClient({ random: noJitter, clock: eagerClock(), maxRetries: 0, ca: cert, server, ...options })
const path = '/apis/example.com/v1/namespaces/default/notes/a'

describe('proxyUrl', () => {
  it.each([
    ['http', () => fakeHttpProxy({ credentials: 'me:p@ss' })],
    ['https', () => fakeHttpProxy({ cert, key, credentials: 'me:p@ss' })],
    ['socks5', () => fakeSocksProxy({ credentials: 'me:p@ss' })],
  ])('tunnels requests to an HTTPS server through an %s proxy, which cannot read them', async (protocol, open) => {
    await using proxy: FakeProxy = await open()
    await using client = connect({ proxyUrl: `${protocol}://me:p%40ss@127.0.0.1:${proxy.port}`, token: 'secret' })
    expect(await client.get(Note, 'a')).toMatchObject({ metadata: { name: 'a' } })
    await client.patch(Note, 'a', { type: 'merge', patch: { spec: null } })
    for await (const { object } of client.watch(Note, { resourceVersion: '5' })) {
      expect(object.metadata.name).toBe('a')
      break
    }
    const address = `127.0.0.1:${portOf(secure)}`
    expect(seen.slice(0, 2)).toEqual([`GET ${path} ${address} undefined`, `PATCH ${path} ${address} undefined`])
    // All requests share one connection.
    expect(proxy.seen).toEqual([`${protocol === 'socks5' ? '' : 'CONNECT '}${address} me:p@ss`])
  })

  it.each([
    ['http', () => fakeHttpProxy({ credentials: 'me:secret' })],
    ['https', () => fakeHttpProxy({ cert, key, credentials: 'me:secret' })],
  ])('sends requests for an HTTP server to an %s proxy, with the URL of the server', async (protocol, open) => {
    await using proxy: FakeProxy = await open()
    const server = `http://127.0.0.1:${portOf(plain)}`
    await using client = connect({ proxyUrl: `${protocol}://me:secret@127.0.0.1:${proxy.port}` }, `${server}/prefix`)
    expect(await client.get(Note, 'a', { resourceVersion: '0' })).toMatchObject({ metadata: { name: 'a' } })
    expect(proxy.seen).toEqual([`GET ${server}/prefix${path}?resourceVersion=0 me:secret`])
    expect(seen).toEqual([`GET /prefix${path}?resourceVersion=0 127.0.0.1:${portOf(plain)} undefined`])
  })

  it('connects to an HTTP server through a SOCKS proxy without credentials', async () => {
    await using proxy = await fakeSocksProxy()
    await using client = connect({ proxyUrl: `socks5://127.0.0.1:${proxy.port}` }, `http://127.0.0.1:${portOf(plain)}`)
    expect(await client.get(Note, 'a')).toMatchObject({ metadata: { name: 'a' } })
    expect(proxy.seen).toEqual([`127.0.0.1:${portOf(plain)}`])
  })

  it('leaves the resolution of names to the proxy', async () => {
    const [socks, http] = [await fakeSocksProxy(), await fakeHttpProxy()]
    await using _socks = socks
    await using _http = http
    for (const [host, seenHost] of [
      ['nowhere.invalid', 'nowhere.invalid'],
      ['[2001:db8::7]', '20010db8000000000000000000000007'],
      ['[::ffff:10.0.0.1]', '00000000000000000000ffff0a000001'],
    ]) {
      const server = `https://${host}:${portOf(secure)}`
      await using client = connect({ proxyUrl: `socks5://127.0.0.1:${socks.port}`, insecureSkipTlsVerify: true }, server)
      expect(await client.get(Note, 'a')).toMatchObject({ metadata: { name: 'a' } })
      expect(socks.seen.splice(0)).toEqual([`${seenHost}:${portOf(secure)}`])
      await using other = connect({ proxyUrl: `http://127.0.0.1:${http.port}`, insecureSkipTlsVerify: true }, server)
      expect(await other.get(Note, 'a')).toMatchObject({ metadata: { name: 'a' } })
      expect(http.seen.splice(0)).toEqual([`CONNECT ${new URL(server).host}`])
    }
  })

  it('verifies the certificate of the server behind the proxy', async () => {
    await using proxy = await fakeHttpProxy()
    const options = { proxyUrl: `http://127.0.0.1:${proxy.port}`, ca: pem('two.crt') }
    await using client = connect(options)
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 'Unreachable', message: expect.stringContaining('self') })
    await using misnamed = connect({ ...options, ca: cert, tlsServerName: 'other.example.com' })
    await expect(misnamed.get(Note, 'a')).rejects.toMatchObject({ code: 'Unreachable' })
    expect(seen).toEqual([])
  })

  it.each([
    [
      'a wrong password',
      () => fakeHttpProxy({ credentials: 'a:b' }),
      'http',
      'it responds with 407 Proxy Authentication Required',
    ],
    ['a wrong password', () => fakeSocksProxy({ credentials: 'a:b' }), 'socks5', 'rejects the username or the password'],
    ['a refused connection', () => fakeSocksProxy({ reply: 5 }), 'socks5', 'the connection was refused'],
    ['a proxy of another protocol', () => fakeHttpProxy(), 'socks5', 'SOCKS'],
  ])('reports %s without the credentials', async (_, open, protocol, message) => {
    await using proxy: FakeProxy = await open()
    const credentials = _ === 'a wrong password' ? 'me:hidden@' : ''
    await using client = connect({ proxyUrl: `${protocol}://${credentials}127.0.0.1:${proxy.port}` })
    const failure = await client.get(Note, 'a').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'Unreachable', message: expect.stringContaining(message) })
    expect(String(failure)).toContain(`proxy ${protocol}://127.0.0.1:${proxy.port}`)
    expect(String(failure)).not.toContain('hidden')
  })

  it('reports a proxy that does not listen', async () => {
    const proxy = await silentProxy()
    await proxy[Symbol.asyncDispose]()
    for (const protocol of ['http', 'https', 'socks5']) {
      await using client = connect({ proxyUrl: `${protocol}://127.0.0.1:${proxy.port}` })
      await expect(client.get(Note, 'a')).rejects.toMatchObject({
        code: 'Unreachable',
        message: expect.stringContaining('ECONNREFUSED'),
      })
    }
  })

  it('rejects requests that wait for the proxy when they are aborted or the client closes', async () => {
    await using proxy = await silentProxy()
    for (const protocol of ['http', 'socks5']) {
      const client = connect({ proxyUrl: `${protocol}://127.0.0.1:${proxy.port}` })
      const abort = new AbortController()
      const aborted = client.get(Note, 'a', { signal: abort.signal })
      const closed = client.get(Note, 'a')
      abort.abort(new Error('enough'))
      await expect(aborted).rejects.toThrow('enough')
      await client.close()
      await expect(closed).rejects.toMatchObject({ code: 'Unreachable' })
    }
  })
})

describe('parseProxyUrl', () => {
  it.each([
    ['http://proxy', { protocol: 'http', host: 'proxy', port: 80, credentials: undefined }],
    ['https://proxy/', { protocol: 'https', host: 'proxy', port: 443, credentials: undefined }],
    ['socks5://[::1]', { protocol: 'socks5', host: '::1', port: 1080, credentials: undefined }],
    ['http://a%3Ab:@proxy:3128', { protocol: 'http', host: 'proxy', port: 3128, credentials: { username: 'a:b', password: '' } }],
  ])('parses %s', (text, proxy) => expect(parseProxyUrl(text)).toEqual(proxy))

  it.each([
    ['ftp://proxy', 'Unsupported'],
    ['socks4://proxy', 'Unsupported'],
    ['proxy:3128', 'Unsupported'],
    ['proxy', 'InvalidRequest'],
    ['socks5://', 'InvalidRequest'],
    ['http://a%ZZhidden@proxy', 'InvalidRequest'],
  ])('rejects %s', (text, code) => {
    expect(() => parseProxyUrl(text)).toThrow(expect.objectContaining({ code, message: expect.not.stringContaining('hidden') }))
  })
})
