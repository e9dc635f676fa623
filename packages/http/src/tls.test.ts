import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { type ApiServerOptions, createApiServer } from '@krmkit/apiserver'
import type { ApiRequest } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Listener, ListenOptions } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { Feed, RawClient, streamResponse, textResponse, withErrorResponses } from './testing/fake-server.ts'

let directory: string
let server: Listener | undefined
let session: ClientHttp2Session | undefined
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(async () => {
  session?.destroy()
  session = undefined
  await server?.close({ graceMs: 50 })
  server = undefined
})

type Answering = Parameters<typeof withErrorResponses>[0]
const start = async (handle: Answering, options: Partial<ListenOptions> = {}) => {
  server = await listen({ handle: withErrorResponses(handle) }, { tls: selfSigned(directory), ...options })
  return server
}
const dial = () => {
  session = connectHttp2(server!.url, { ca: server!.authority! })
  session.on('error', () => undefined)
  return session
}
const ask = (headers: Record<string, unknown>, body?: string | Buffer) => {
  const stream = (session ?? dial()).request({ ':path': '/', ...headers } as never, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return new Promise<{ headers: IncomingHttpHeaders & { ':status'?: number }; body: Buffer }>((resolve, reject) => {
    const chunks: Buffer[] = []
    let head: IncomingHttpHeaders = {}
    stream.on('response', (received) => {
      head = received
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => resolve({ headers: head, body: Buffer.concat(chunks) }))
  })
}

/** The authorities of the certificate request, as OpenSSL prints them. Undefined where OpenSSL is not installed. */
function namesOfAuthorities(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_2'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let printed = ''
    child.stdout.on('data', (part: Buffer) => {
      printed += part.toString()
    })
    child.on('error', () => resolve(undefined))
    child.on('close', () => resolve(/Acceptable client certificate CA names\n((?:.*=.*\n)+)/.exec(printed)?.[1]))
    child.stdin.on('error', () => undefined)
    child.stdin.end()
  })
}

describe('TLS port', () => {
  it('negotiates HTTP/1.1 and HTTP/2 with a self-signed certificate', async () => {
    const { url, authority } = await start((request) => textResponse(request.path))
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(new X509Certificate(authority!).ca).toBe(true)
    expect((await ask({ ':path': '/two' })).body.toString()).toBe('/two')
    const one = await new Promise((resolve, reject) => {
      httpsRequest(`${url}/one`, { ca: authority }, (response) => {
        response.setEncoding('utf8').on('data', resolve)
      })
        .on('error', reject)
        .end()
    })
    expect(one).toBe('/one')
  })

  it('rejects plain HTTP with the message of kube-apiserver', async () => {
    await start(() => textResponse('x'))
    const client = new RawClient(server!.port).send('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await client.closed
    expect(client.received).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
  })

  it('closes the oldest connections when too many have sent no request', async () => {
    await start(() => textResponse('x'), { limits: { pendingConnectionsPerAddress: 3 } })
    expect((await ask({})).body.toString()).toBe('x')
    const silent = Array.from({ length: 5 }, () => new RawClient(server!.port))
    await Promise.all([silent[0]!.closed, silent[1]!.closed])
    expect(silent.map(({ socket }) => socket.closed)).toEqual([true, true, false, false, false])
    // A connection that has sent a request stays open.
    expect((await ask({})).body.toString()).toBe('x')
    for (const { socket } of silent) socket.destroy()
  })

  it('resumes TLS sessions', async () => {
    await start(() => textResponse('x'))
    const { port, authority } = server!
    const session = await new Promise<Buffer>((resolve) => {
      const socket: TLSSocket = connectTls({ port, host: '127.0.0.1', ca: authority! }, () =>
        socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n'),
      )
      socket.once('session', (made) => {
        socket.destroy()
        resolve(made)
      })
    })
    const again: TLSSocket = connectTls({ port, host: '127.0.0.1', ca: authority!, session })
    await new Promise((resolve) => again.once('secureConnect', resolve))
    expect(again.isSessionReused()).toBe(true)
    again.destroy()
  })

  it('passes client certificates to the handler without verifying them', async () => {
    const requests: ApiRequest[] = []
    await start((request) => {
      requests.push(request)
      return textResponse('x')
    })
    const pair = {
      cert: await readFile(join(directory, 'apiserver.crt'), 'utf8'),
      key: await readFile(join(directory, 'apiserver.key'), 'utf8'),
    }
    const { authority } = server!
    await server!.close()
    await start(
      (request) => {
        requests.push(request)
        return textResponse('x')
      },
      { tls: selfSigned(directory, { clientCa: authority! }) },
    )
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority, ...pair })
    for (let i = 0; i < 2; i++) {
      await new Promise((resolve) =>
        httpsRequest(server!.url, { agent }, (response) => response.resume().on('end', resolve)).end(),
      )
    }
    agent.destroy()
    await ask({})
    const [first, second, without] = requests
    expect(Buffer.from(first!.peer.certificates![0]!).equals(new X509Certificate(pair.cert).raw)).toBe(true)
    expect(second!.peer).toBe(first!.peer)
    expect(without!.peer.certificates).toBeUndefined()
  })

  it('announces replaced authorities on new connections', async () => {
    const { authority } = await start(() => textResponse('x'))
    await server!.close()
    const files = { certificate: join(directory, 'apiserver.crt'), key: join(directory, 'apiserver.key') }
    const certificate = await readFile(files.certificate, 'utf8')
    const key = await readFile(files.key, 'utf8')
    await start(() => textResponse('x'), { tls: { certificate, key, authority: authority!, clientCa: authority! } })
    const before = await namesOfAuthorities(server!.port)
    server!.setClientAuthorities(certificate)
    const after = await namesOfAuthorities(server!.port)
    expect((await ask({})).body.toString()).toBe('x')
    if (before !== undefined) expect(after).not.toEqual(before)
  })

  it('warns once about a server without an authorizer', async () => {
    const warnings: string[] = []
    const onWarning = (message: string) => void warnings.push(message)
    for (const options of [{}, { authorizer: ({ rbac }) => rbac() }] satisfies Partial<ApiServerOptions>[]) {
      await using api = await createApiServer({ storage: memoryStorage(), ...options })
      await using listening = await listen(api, { tls: false, onWarning })
      for (const path of ['/readyz', '/version']) await fetch(`${listening.url}${path}`)
    }
    expect(warnings).toEqual([expect.stringContaining('the server has no authorizer')])
  })

  it('rejects unusable certificates, ports in use and options out of range', async () => {
    const { port } = await start(() => textResponse('x'))
    const served = { handle: withErrorResponses(() => textResponse('x')) }
    await expect(listen(served, { tls: { certificate: 'no', key: 'no' } })).rejects.toMatchObject({ code: 'InvalidTls' })
    await expect(listen(served, { tls: false, port })).rejects.toMatchObject({
      code: 'ListenFailed',
      message: expect.stringContaining('in use'),
    })
    const goaway = { chance: 0.5, random: { bytes: (size: number) => new Uint8Array(size) } }
    await expect(listen(served, { tls: false, goaway })).rejects.toMatchObject({ code: 'InvalidOption' })
    const tlsMissing = { code: 'InvalidOption', message: expect.stringContaining('tls is required: selfSigned(directory)') }
    for (const options of [{ port: 0 }, { port: 0, tls: undefined }, { tls: true }, { tls: null }, { tls: 'x' }, {}, undefined])
      await expect(listen(served, options as never)).rejects.toMatchObject(tlsMissing)
    for (const tls of [{}, { certificate: 'x' }, { certificate: 1, key: 2 }])
      await expect(listen(served, { tls } as never)).rejects.toMatchObject({
        code: 'InvalidOption',
        message: expect.stringContaining('certificate and key'),
      })
    for (const invalid of [-1, 65_536, 1.5, Number.NaN, '6443'])
      await expect(listen(served, { tls: false, port: invalid as number })).rejects.toMatchObject({
        code: 'InvalidOption',
        message: expect.stringContaining('port must be an integer from 0 to 65535'),
      })
    for (const options of [{ prot: 0 }, { limits: { headerByte: 1 } }])
      await expect(listen(served, { tls: false, ...options } as never)).rejects.toMatchObject({
        code: 'InvalidOption',
        message: expect.stringContaining('did you mean'),
      })
    for (const apiServer of [{}, undefined, served.handle])
      await expect(listen(apiServer as never, { tls: false })).rejects.toMatchObject({
        code: 'InvalidOption',
        message: expect.stringContaining('handle'),
      })
  })
})

describe('HTTP/2', () => {
  it('passes requests to the handler unchanged', async () => {
    let request: ApiRequest | undefined
    await start(async (incoming) => {
      request = incoming
      return textResponse(Buffer.from(await incoming.body(100)).toString())
    })
    const { body } = await ask({ ':method': 'POST', ':path': '//a%2Fb/..?x=1', 'impersonate-group': ['a', 'b'] }, 'payload')
    expect(body.toString()).toBe('payload')
    expect(request).toMatchObject({ method: 'POST', path: '//a%2Fb/..', query: 'x=1', peer: { address: '127.0.0.1' } })
    expect({ ...request!.headers }).toEqual({ host: `127.0.0.1:${server!.port}`, 'impersonate-group': ['a', 'b'] })
    expect((await ask({ ':method': 'POST' })).body).toHaveLength(0)
  })

  it('rejects bodies above the limit and serves the next request', async () => {
    await start(async (request) => textResponse(`${(await request.body(10)).length}`))
    const { headers } = await ask({ ':method': 'POST' }, Buffer.alloc(300_000))
    expect(headers[':status']).toBe(413)
    expect((await ask({ ':method': 'POST', 'content-length': 11 }, 'x'.repeat(11))).headers[':status']).toBe(413)
    expect((await ask({ ':method': 'POST' }, 'abc')).body.toString()).toBe('3')
  })

  it('responds with bytes, lists, empty and compressed bodies', async () => {
    const whole = Buffer.alloc(700_000, 'krm')
    await start(({ path }) => {
      if (path === '/list')
        return { status: 200, headers: {}, body: { kind: 'list', parts: [whole, whole], length: 2 * whole.length } }
      if (path === '/none') return { status: 204, headers: {}, body: { kind: 'empty' } }
      return { status: 200, headers: { connection: 'close', warning: ['a', 'b'] }, body: { kind: 'bytes', bytes: whole } }
    })
    expect((await ask({ ':path': '/list' })).body.length).toBe(2 * whole.length)
    const none = await ask({ ':path': '/none' })
    expect(none.headers[':status']).toBe(204)
    expect(none.headers['content-length']).toBeUndefined()
    const bytes = await ask({})
    expect(bytes.body.equals(whole)).toBe(true)
    expect(bytes.headers).toMatchObject({ 'content-length': '700000', warning: 'a, b' })
    const head = await ask({ ':method': 'HEAD' })
    expect(head).toMatchObject({ headers: { 'content-length': '700000' }, body: { length: 0 } })
    const packed = await ask({ 'accept-encoding': 'gzip' })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(packed.body.length).toBeLessThan(50_000)
  })

  it('streams, and cancels the source when the client resets', async () => {
    const feed = new Feed()
    let request: ApiRequest | undefined
    await start((incoming) => {
      request = incoming
      return streamResponse(feed)
    })
    const stream = dial().request({ ':path': '/' })
    stream.on('error', () => undefined)
    feed.push('one', 'two')
    const chunk = await new Promise((resolve) => stream.once('data', resolve))
    expect(String(chunk)).toBe('onetwo')
    const aborted = new Promise((resolve) => request!.signal.addEventListener('abort', resolve))
    stream.close(constants.NGHTTP2_CANCEL)
    await feed.released
    await aborted
  })

  it('resets a stream whose source fails', async () => {
    const feed = new Feed()
    await start(() => streamResponse(feed))
    const failed = ask({}).catch((error: unknown) => error)
    feed.push('part')
    feed.end(new Error('broken'))
    expect(await failed).toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
  })

  it('responds with 500 when the handler throws', async () => {
    await start(() => {
      throw new Error('broken')
    })
    const { headers, body } = await ask({})
    expect(headers[':status']).toBe(500)
    expect(body.toString()).toContain('InternalError')
  })

  it('resets the stream without a response when the handler aborts', async () => {
    await start(() => Promise.reject(new DOMException('dropped', 'AbortError')))
    await expect(ask({})).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
  })

  it('sanitizes response header values and omits invalid names', async () => {
    await start(() => ({
      status: 200,
      headers: {
        ...{ 'x-bad': 'a\nb\0', 'x bad': 'b', ':status': '500', te: 'gzip', 'http2-settings': 'x' },
        ...{ 'content-type': ['text/plain', 'text/html'], 'x-many': ['a', ' \rb'] },
      },
      body: { kind: 'bytes', bytes: Buffer.from('fine') },
    }))
    const { headers, body } = await ask({})
    expect(body.toString()).toBe('fine')
    expect(headers).toMatchObject({ ':status': 200, 'x-bad': 'a b', 'content-type': 'text/plain', 'x-many': 'a, b' })
    expect(headers['x bad'] ?? headers.te ?? headers['http2-settings']).toBeUndefined()
  })

  it('resets a stream that still sends after the response, without an error', async () => {
    await start(async (request) =>
      request.path === '/echo' ? textResponse(`${(await request.body(1e6)).length}`) : textResponse('refused', { status: 401 }),
    )
    for (let i = 0; i < 5; i++) {
      const stream = (session ?? dial()).request({ ':path': '/', ':method': 'POST' }, { endStream: false })
      let answered = 0
      stream.on('response', (head) => {
        answered = head[':status'] ?? 0
      })
      stream.resume().on('error', () => undefined)
      stream.write(Buffer.alloc(1_000_000))
      await new Promise((resolve) => stream.once('close', resolve))
      expect([answered, stream.rstCode]).toEqual([401, constants.NGHTTP2_NO_ERROR])
    }
    // Discarded input does not reduce the window of the connection.
    expect((await ask({ ':method': 'POST', ':path': '/echo' }, Buffer.alloc(200_000))).body.toString()).toBe('200000')
  })

  it('responds with 408 to a stalled body and resets the stream', async () => {
    await start(async (request) => textResponse(`${(await request.body(100)).length}`), { limits: { bodyWindowMs: 40 } })
    const stream = dial().request({ ':path': '/', ':method': 'POST' }, { endStream: false })
    stream.write('x')
    let answered = 0
    stream.on('response', (head) => {
      answered = head[':status'] ?? 0
    })
    stream.resume()
    await new Promise((resolve) => stream.once('close', resolve))
    expect(answered).toBe(408)
  })

  it('rejects CONNECT', async () => {
    await start(() => textResponse('x'))
    const stream = dial().request({ ':method': 'CONNECT', ':authority': 'other:443' })
    stream.on('error', () => undefined)
    const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
    expect(headers[':status']).toBe(405)
  })

  it('sends GOAWAY with the given probability', async () => {
    await start(() => textResponse('x'), { goaway: { chance: 0.02, random: { bytes: (size) => new Uint8Array(size) } } })
    const gone = new Promise((resolve) => dial().once('goaway', resolve))
    expect((await ask({})).body.toString()).toBe('x')
    await gone
  })
})
