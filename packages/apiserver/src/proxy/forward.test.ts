import { PassThrough } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { turnsDuring } from '@krmkit/base/testing'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { administrator, readAll, requestOf } from '../testing/sample-server.ts'
import { createPod, podsPath, proxyingServer, streamed } from './testing/fake-backends.ts'

type Proxying = Awaited<ReturnType<typeof proxyingServer>>

let server: Proxying
beforeEach(async () => {
  server = await proxyingServer()
  await createPod(server, 'p', { ips: ['10.1.0.1'] })
  return () => server.server.close()
})

const prefix = `${podsPath}/p:80/proxy`
const client = { host: 'cluster.example.com:6443' }

const call = (target: string, more: Partial<ApiRequest> = {}): Promise<ApiResponse> =>
  server.server.handle({ ...requestOf(target, { user: administrator }), peer: { address: '192.0.2.9' }, ...more })

describe('a proxied request', () => {
  it.each([
    ['/echo/a?x=1&y=%2F;z', '/echo/a?x=1&y=%2F;z'],
    ['/', '/'],
    ['/a/', '/a/'],
    ['//echo//b', '/echo/b'],
    ['/echo/%2Fb%20c//d/../e/', '/echo/b%20c/e/'],
    ['/../../../../secrets', '/secrets'],
    ['/%2e%2e/%2e%2e/x', '/x'],
    ['/a%3Fb%23c%25', '/a%3Fb%23c%25'],
    ['/%E2%82%AC', '/%E2%82%AC'],
    ['/a%0d%0aX-Evil:%201', '/a%0D%0AX-Evil:%201'],
  ])('has a clean path: %s [P152]', async (path, expected) => {
    await call(`${prefix}${path}`)
    expect(server.backends.last.path).toBe(expected)
  })

  it('of the root without a slash is redirected to it, except for other methods than GET and HEAD [P152]', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await call(`${prefix}?q=1`, { method })
      expect([status, headers.location], method).toEqual([301, `${prefix}/?q=1`])
    }
    expect(server.backends.received).toEqual([])
    await call(prefix, { method: 'POST' })
    expect(server.backends.last).toMatchObject({ path: '/', method: 'POST', headers: { 'x-forwarded-uri': `${prefix}/` } })
  })

  it('keeps its headers, without credentials, identities and those of the connection [P152]', async () => {
    const headers = {
      ...client,
      accept: 'text/html',
      cookie: 'a=b',
      'x-twice': ['1', '2'],
      'x-forwarded-for': '198.51.100.1',
      'x-forwarded-host': 'public.example.com',
      authorization: 'Bearer secret',
      'proxy-authorization': 'Basic secret',
      'x-remote-user': 'root',
      'x-remote-group': 'system:masters',
      'x-remote-extra-a': 'b',
      connection: 'keep-alive, X-Hop',
      'x-hop': '1',
      'keep-alive': 'timeout=5',
      te: 'gzip, trailers',
      expect: '100-continue',
    }
    await call(`${prefix}/a/`, { headers })
    expect({ ...server.backends.last.headers }).toEqual({
      ...client,
      accept: 'text/html',
      cookie: 'a=b',
      'x-twice': ['1', '2'],
      'x-forwarded-for': '198.51.100.1, 192.0.2.9',
      'x-forwarded-host': 'public.example.com',
      'x-forwarded-uri': `${prefix}/a/`,
      te: 'trailers',
    })
  })

  it('of an impersonated user has no header of the impersonation [P152]', async () => {
    const headers = { 'impersonate-user': 'alice', 'impersonate-group': 'dev', 'impersonate-extra-a': 'b' }
    await call(`${prefix}/a`, { headers })
    expect(Object.keys(server.backends.last.headers).filter((name) => name.startsWith('impersonate'))).toEqual([])
  })

  it('streams its body [P152]', async () => {
    let read = ''
    server.backends.handle = async ({ body }) => {
      for await (const part of body as AsyncIterable<Uint8Array>) read += new TextDecoder().decode(part)
      return streamed('done')
    }
    async function* stream() {
      yield new TextEncoder().encode('one ')
      yield new TextEncoder().encode('two')
    }
    await call(`${prefix}/a`, { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, stream })
    expect(read).toBe('one two')
    expect(server.backends.last.headers['transfer-encoding']).toBeUndefined()
  })

  it('may have any standard HTTP method, and no other [P152]', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
      await call(`${prefix}/a`, { method })
      expect(server.backends.last.method).toBe(method)
    }
    const before = server.backends.received.length
    for (const method of ['TRACE', 'PROPFIND', 'CONNECT'])
      expect((await call(`${prefix}/a`, { method })).status, method).toBe(405)
    expect(server.backends.received.length).toBe(before)
  })

  it('is never a dry run [P152]', async () => {
    const { json } = await server.ask(`${prefix}/a?dryRun=All`)
    expect(json).toMatchObject({ code: 400, message: 'dryRun is not supported' })
  })

  it('has no time limit, and ends when the client disconnects [P152]', async () => {
    const gone = new AbortController()
    server.backends.handle = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('context canceled'))))
    const pending = call(`${prefix}/a`, { signal: gone.signal })
    while (server.backends.received.length === 0) await new Promise((resolve) => setImmediate(resolve))
    server.clock.advance(3_600_000)
    expect(server.backends.last.signal.aborted).toBe(false)
    gone.abort()
    expect((await pending).status).toBe(503)
    expect(server.backends.last.signal.aborted).toBe(true)
  })
})

describe('rights of the proxy', () => {
  it.each([
    ['GET', 'get'],
    ['HEAD', 'get'],
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
    ['OPTIONS', '*'],
  ])('%s requires the verb %s of the subresource [P152]', async (method, verb) => {
    const own = await proxyingServer({ authorizer: ({ rbac }) => rbac(), bootstrapRoles: true })
    const alice = { username: 'alice', groups: [] }
    await createPod(own, 'p', { ips: ['10.1.0.1'] })
    const role = async (verbs: readonly string[], resource: string) => {
      const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
      const rules = [{ apiGroups: [''], resources: [resource], verbs }]
      await own.ask(`${path}/roles/r`, { method: 'DELETE' })
      await own.ask(`${path}/roles`, { method: 'POST', body: { metadata: { name: 'r' }, rules } })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }
      const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }]
      await own.ask(`${path}/rolebindings`, { method: 'POST', body: { metadata: { name: 'r' }, roleRef, subjects } })
    }
    const status = async () => (await own.ask(`${podsPath}/p/proxy/x`, { method, user: alice })).status
    await role(['*'], 'pods')
    expect(await status()).toBe(403)
    const others = ['get', 'create', 'update', 'patch', 'delete', 'proxy'].filter((each) => each !== verb)
    await role(others, 'pods/proxy')
    expect(await status()).toBe(403)
    await role([verb], 'pods/proxy')
    expect(await status()).toBe(200)
    await own.server.close()
  })
})

describe('the response of a backend', () => {
  it('keeps status and headers, without those of the connection and of CORS [P152]', async () => {
    server.backends.handle = () =>
      streamed('teapot', {
        status: 418,
        headers: {
          'content-type': 'text/plain',
          'set-cookie': ['a=1', 'b=2'],
          'audit-id': 'theirs',
          'cache-control': 'max-age=5',
          'access-control-allow-origin': '*',
          connection: 'x-drop',
          'x-drop': '1',
          'keep-alive': 'timeout=9',
          'transfer-encoding': 'chunked',
        },
      })
    const { status, headers, body } = await call(`${prefix}/a`)
    expect([status, await readAll(body)]).toEqual([418, 'teapot'])
    expect(headers).toEqual({
      'content-type': 'text/plain',
      'set-cookie': ['a=1', 'b=2'],
      'audit-id': [expect.any(String), 'theirs'],
      'cache-control': ['no-cache, private', 'max-age=5'],
    })
  })

  it('is a redirect through the proxy, which is not followed [P152]', async () => {
    server.backends.handle = () => streamed('', { status: 302, headers: { location: 'http://10.1.0.1:80/next/' } })
    const { status, headers } = await call(`${prefix}/a`)
    expect([status, headers.location]).toEqual([302, `${prefix}/next/`])
    expect(server.backends.received.length).toBe(1)
  })

  it('with a redirect to an invalid URL is an internal error [P152]', async () => {
    server.backends.handle = () => streamed('', { status: 302, headers: { location: '/%zz' } })
    expect((await server.ask(`${prefix}/a`)).json).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: error trying to parse Location header: parse "/%zz": invalid URL escape "%zz"',
    })
  })

  it('has rewritten links in HTML, also compressed [P152]', async () => {
    const page = '<a href="/x">x</a>'
    const rewritten = `<a href="${prefix}/x">x</a>`
    const html = { 'content-type': 'text/html; charset=utf-8', 'content-length': '18' }
    server.backends.handle = () => streamed(['<a href="', '/x">x</a>'], { headers: html })
    const plain = await call(`${prefix}/a`)
    expect(plain.headers['content-length']).toBeUndefined()
    expect(await readAll(plain.body)).toBe(rewritten)
    const zipped = gzipSync(page)
    const stream = async function* () {
      yield zipped
    }
    const body = { kind: 'stream' as const, stream: stream() }
    server.backends.handle = () => ({ status: 200, headers: { ...html, 'content-encoding': 'gzip' }, body })
    const coded = await call(`${prefix}/a`)
    if (coded.body.kind !== 'stream') throw new Error(coded.body.kind)
    const parts: Uint8Array[] = []
    for await (const part of coded.body.stream) parts.push(part)
    expect(gunzipSync(Buffer.concat(parts)).toString()).toBe(rewritten)
    server.backends.handle = () => streamed(page, { headers: { ...html, 'content-encoding': 'br' } })
    expect(await readAll((await call(`${prefix}/a`)).body)).toBe(page)
    server.backends.handle = () => streamed(page, { headers: { 'content-type': 'text/plain' } })
    expect(await readAll((await call(`${prefix}/a`)).body)).toBe(page)
  })

  it('lets other work run while the links of a large page are rewritten [P152]', async () => {
    const links = '<a href=/a>'.repeat(6000)
    const page = Array.from({ length: 20 }, () => links)
    server.backends.handle = () => streamed(page, { headers: { 'content-type': 'text/html' } })
    const { body } = await call(`${prefix}/a`)
    if (body.kind !== 'stream') throw new Error(body.kind)
    let bytes = 0
    const { turns } = await turnsDuring(async () => {
      for await (const part of body.stream) bytes += part.length
    })
    expect(bytes).toBe(20 * 6000 * `<a href="${prefix}/a">`.length)
    expect(turns).toBeGreaterThan(3)
  })

  it('that switches protocols without a request is refused [P152]', async () => {
    const connection = new PassThrough()
    server.backends.handle = () => ({ status: 101, headers: {}, body: { kind: 'connection', connection } })
    expect((await server.ask(`${prefix}/a`)).json).toMatchObject({ code: 503 })
    expect(connection.destroyed).toBe(true)
  })
})

describe('an upgrade through the proxy', () => {
  const headers = {
    ...client,
    connection: 'keep-alive, Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'k',
    'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.dG9rZW4, chat',
    authorization: 'Bearer secret',
  }

  it('becomes a tunnel, without its token and its query [P152]', async () => {
    const connection = new PassThrough()
    server.backends.handle = () => ({
      status: 101,
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': 'a' },
      body: { kind: 'connection', connection },
    })
    const response = await call(`${prefix}/ws?q=1`, { headers, upgradable: true })
    expect(response).toMatchObject({ status: 101, body: { kind: 'connection', connection } })
    expect(response.headers).toMatchObject({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-accept': 'a' })
    const { headers: sent, path, upgrade } = server.backends.last
    expect([path, upgrade]).toEqual(['/ws', true])
    expect({ ...sent }).toEqual({
      ...client,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'k',
      'sec-websocket-protocol': 'chat',
      'x-forwarded-for': '192.0.2.9',
    })
  })

  it('passes a refusal of the backend on, and reports a response that ignores the upgrade [P152]', async () => {
    server.backends.handle = () => streamed('no', { status: 403 })
    const refused = await call(`${prefix}/ws`, { headers, upgradable: true })
    expect([refused.status, await readAll(refused.body)]).toEqual([403, 'no'])
    server.backends.handle = () => streamed('page')
    const ignored = await call(`${prefix}/ws`, { headers, upgradable: true })
    expect(JSON.parse(await readAll(ignored.body))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'invalid upgrade response: status code 200',
      code: 500,
    })
  })

  it('reports a backend that cannot be reached [P152]', async () => {
    server.backends.handle = () => Promise.reject(new Error('dial tcp 10.1.0.1:80: connect: connection refused'))
    const { status, body } = await call(`${prefix}/ws`, { headers, upgradable: true })
    const { message } = JSON.parse(await readAll(body))
    expect([status, message]).toEqual([500, 'error dialing backend: dial tcp 10.1.0.1:80: connect: connection refused'])
  })
})
