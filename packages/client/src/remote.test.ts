import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createRemoteClient } from './remote.ts'
import { eagerClock, event, Note, noJitter, note } from './testing/fake-api.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const start = async (respond: (request: IncomingMessage & { body: string }, response: ServerResponse) => void) => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    respond(Object.assign(request, { body: Buffer.concat(chunks).toString() }), response)
  })
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const common = { random: noJitter, clock: eagerClock() }
const answerJson = (response: ServerResponse, value: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

describe('createRemoteClient', () => {
  it('sends requests under the path of the server with a token', async () => {
    const seen: unknown[] = []
    const url = await start((request, response) => {
      seen.push([request.method, request.url, request.headers.authorization, request.body])
      answerJson(response, note('a', 1))
    })
    await using client = createRemoteClient({ ...common, server: `${url}/prefix/`, token: () => Promise.resolve('secret') })
    expect(await client.get(Note, 'a', { resourceVersion: '0' })).toMatchObject({ kind: 'Note', metadata: { name: 'a' } })
    await client.patch(Note, 'a', { type: 'merge', patch: { spec: null } })
    expect(seen).toEqual([
      ['GET', '/prefix/apis/example.com/v1/namespaces/default/notes/a?resourceVersion=0', 'Bearer secret', ''],
      ['PATCH', '/prefix/apis/example.com/v1/namespaces/default/notes/a', 'Bearer secret', '{"spec":null}'],
    ])
  })

  it('reuses a connection', async () => {
    const ports = new Set<number | undefined>()
    const url = await start((request, response) => {
      ports.add(request.socket.remotePort)
      answerJson(response, note('a', 1))
    })
    await using client = createRemoteClient({ ...common, server: url })
    for (let i = 0; i < 3; i++) await client.get(Note, 'a')
    expect(ports.size).toBe(1)
  })

  it('decompresses responses', async () => {
    const url = await start((request, response) => {
      expect(request.headers['accept-encoding']).toBe('gzip')
      response.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify({ items: [note('a', 1)], metadata: {} })))
    })
    await using client = createRemoteClient({ ...common, server: url })
    expect((await client.list(Note)).items).toHaveLength(1)
  })

  it('watches, and disconnects when the loop exits', async () => {
    let gone: Promise<unknown> | undefined
    const url = await start((request, response) => {
      expect(request.headers['accept-encoding']).toBeUndefined()
      gone = new Promise((resolve) => response.once('close', resolve))
      response.write(event('ADDED', note('a', 6)))
    })
    await using client = createRemoteClient({ ...common, server: url })
    for await (const { object } of client.watch(Note, { resourceVersion: '5' })) {
      expect(object.metadata.name).toBe('a')
      break
    }
    await gone
  })

  it('resumes a watch after an interrupted connection', async () => {
    let connections = 0
    const url = await start((_, response) => {
      connections++
      response.write(event('ADDED', note(`n${connections}`, 5 + connections)), () => connections === 1 && response.destroy())
    })
    await using client = createRemoteClient({ ...common, server: url })
    const names: unknown[] = []
    for await (const { object } of client.watch(Note, { resourceVersion: '5' })) {
      names.push(object.metadata.name)
      if (names.length === 2) break
    }
    expect(names).toEqual(['n1', 'n2'])
  })

  it('reports an unreachable server and an aborted call', async () => {
    const url = await start((_, response) => response.write('{'))
    await using client = createRemoteClient({ ...common, server: url })
    const abort = new AbortController()
    const call = client.get(Note, 'a', { signal: abort.signal })
    setImmediate(() => abort.abort(new Error('enough')))
    await expect(call).rejects.toThrow('enough')
    const hanging = client.get(Note, 'a')
    await new Promise((resolve) => server!.once('request', resolve))
    server!.closeAllConnections()
    await expect(hanging).rejects.toMatchObject({ code: 'Unreachable' })
    server!.close()
    await expect(client.get(Note, 'a')).rejects.toMatchObject({
      code: 'Unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  it('sends no request for a call that is aborted while its token is read', async () => {
    let requests = 0
    const url = await start((_, response) => {
      requests++
      answerJson(response, note('a', 1))
    })
    const abort = new AbortController()
    const token = async () => {
      abort.abort(new Error('enough'))
      return 'secret'
    }
    await using client = createRemoteClient({ ...common, server: url, token })
    await expect(client.get(Note, 'a', { signal: abort.signal })).rejects.toThrow('enough')
    expect(requests).toBe(0)
  })

  it('asks the server to end each watch, and drops a watch that does not end', async () => {
    const queries: string[] = []
    const url = await start((request, response) => {
      queries.push(request.url ?? '')
      if (queries.length === 1) response.writeHead(200).flushHeaders()
      else response.write(event('ADDED', note('a', 6)))
    })
    await using client = createRemoteClient({ ...common, server: url, watchTimeoutMs: 2000 })
    for await (const { object } of client.watch(Note, { resourceVersion: '5' })) {
      expect(object.metadata.name).toBe('a')
      break
    }
    expect(queries).toEqual(
      Array(2).fill('/apis/example.com/v1/notes?watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=1'),
    )
  })

  it('rejects an invalid server URL, and calls after close', async () => {
    expect(() => createRemoteClient({ server: 'not a url' })).toThrow('is not an HTTP or HTTPS URL')
    expect(() => createRemoteClient({ server: 'ftp://host' })).toThrow('is not an HTTP or HTTPS URL')
    const client = createRemoteClient({ server: 'http://127.0.0.1:1' })
    await client.close()
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 'Closed' })
  })
})
