import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import type { CredentialSource, Credentials } from './credentials/credential-source.ts'
import { loadKubeconfig } from './kubeconfig.ts'
import { createRemoteClient } from './remote.ts'
import { eagerClock, Note, noJitter, note } from './testing/fake-api.ts'

const pem = (name: string) => readFileSync(new URL(`../testdata/${name}`, import.meta.url), 'utf8')
const one = { certificate: pem('one.crt'), key: pem('one.key') }
const two = { certificate: pem('two.crt'), key: pem('two.key') }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})
const start = async (respond: (request: IncomingMessage, response: ServerResponse) => void) => {
  server = createServer({ cert: one.certificate, key: one.key, requestCert: true, rejectUnauthorized: false }, respond)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: one.certificate }
}
const common = { random: noJitter, clock: eagerClock() }
const ok = (response: ServerResponse) => response.setHeader('content-type', 'application/json').end(JSON.stringify(note('a', 1)))
const unauthorized = (response: ServerResponse) =>
  response
    .writeHead(401, { 'content-type': 'application/json' })
    .end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Unauthorized', code: 401 }))
const nameOf = (request: IncomingMessage) => (request.socket as TLSSocket).getPeerCertificate().subject?.CN

/** Creates a source that returns the credentials in turn, then always the last. */
function sourceOf(...all: Credentials[]): CredentialSource & { gets: number } {
  const source = {
    gets: 0,
    get: async () => {
      source.gets++
      return all[0]!
    },
    renew: async (credentials: Credentials) => {
      if (all[0] === credentials && all.length > 1) all.shift()
      return all[0] !== credentials
    },
  }
  return source
}

describe('a token file', () => {
  it('is read for every request: a renewed token is used at once, on the same connection [P136]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-token-'))
    const seen: (string | undefined)[] = []
    const ports = new Set<number | undefined>()
    const { server: url, ca } = await start((request, response) => {
      seen.push(request.headers.authorization)
      ports.add(request.socket.remotePort)
      ok(response)
    })
    const path = join(folder, 'config')
    const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { tokenFile: 'token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }
    await writeFile(path, JSON.stringify(config))
    await writeFile(join(folder, 'token'), 'first\n')
    await using client = createRemoteClient({ ...common, ...(await loadKubeconfig({ path })) })
    await client.get(Note, 'a')
    // Like an update of a pod volume: the new file replaces the old one.
    await writeFile(join(folder, 'next'), 'second\n')
    await rename(join(folder, 'next'), join(folder, 'token'))
    await client.get(Note, 'a')
    await rm(folder, { recursive: true })
    expect(seen).toEqual(['Bearer first', 'Bearer second'])
    expect(ports.size).toBe(1)
  })
})

describe('renewable credentials', () => {
  it('are renewed after a 401, and the request is repeated [P266]', async () => {
    const seen: unknown[] = []
    const connection = await start((request, response) => {
      seen.push([request.method, request.headers.authorization])
      if (request.headers.authorization === 'Bearer new') ok(response)
      else unauthorized(response)
    })
    await using client = createRemoteClient({
      ...common,
      ...connection,
      credentials: sourceOf({ token: 'old' }, { token: 'new' }),
    })
    await client.update(Note, note('a', 1))
    expect(seen).toEqual([
      ['PUT', 'Bearer old'],
      ['PUT', 'Bearer new'],
    ])
  })

  it('keep the 401 when no other credentials are available [P266]', async () => {
    let requests = 0
    const connection = await start((_, response) => {
      requests++
      unauthorized(response)
    })
    await using client = createRemoteClient({ ...common, ...connection, credentials: sourceOf({ token: 'old' }) })
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 401 })
    expect(requests).toBe(1)
  })

  it('with a new certificate close the connections of the previous one [P266]', async () => {
    const seen: unknown[] = []
    const sockets = new Set<unknown>()
    const gone: Promise<unknown>[] = []
    const connection = await start((request, response) => {
      seen.push(nameOf(request))
      if (!sockets.has(request.socket)) gone.push(new Promise((resolve) => request.socket.once('close', resolve)))
      sockets.add(request.socket)
      if (seen.length === 3) unauthorized(response)
      else ok(response)
    })
    await using client = createRemoteClient({ ...common, ...connection, credentials: sourceOf(one, two) })
    await client.get(Note, 'a')
    await client.get(Note, 'a')
    await client.get(Note, 'a')
    expect(seen).toEqual(['one', 'one', 'one', 'two'])
    await gone[0]
    expect(sockets.size).toBe(2)
  })

  it('take precedence over the connection options, not over request headers', async () => {
    const seen: unknown[] = []
    const connection = await start((request, response) => {
      seen.push([request.headers.authorization, nameOf(request)])
      ok(response)
    })
    const source = sourceOf({ token: 'source' })
    await using client = createRemoteClient({ ...common, ...connection, ...two, token: 'fixed', credentials: source })
    await client.get(Note, 'a')
    await client.request({ path: '/', headers: { authorization: 'Bearer own' } })
    expect(seen).toEqual([
      ['Bearer source', 'two'],
      ['Bearer own', 'two'],
    ])
    expect(source.gets).toBe(1)
  })

  it('leave basic authentication unchanged', async () => {
    const seen: unknown[] = []
    const connection = await start((request, response) => {
      seen.push(request.headers.authorization)
      ok(response)
    })
    await using client = createRemoteClient({ ...common, ...connection, basic: { username: 'a', password: 'b:ü' } })
    await client.get(Note, 'a')
    expect(seen).toEqual([`Basic ${Buffer.from('a:b:ü').toString('base64')}`])
  })
})
