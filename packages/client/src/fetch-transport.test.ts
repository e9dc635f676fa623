import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from './client.ts'
import { createFetchTransport } from './fetch-transport.ts'
import { eagerClock, event, Note, noJitter, note } from './testing/fake-api.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function start(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(respond)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const common = { random: noJitter, clock: eagerClock() }

describe('createFetchTransport', () => {
  it('sends requests under the path of the server with a token', async () => {
    const seen: unknown[] = []
    const url = await start(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      seen.push([request.method, request.url, request.headers.authorization, body])
      response.setHeader('content-type', 'application/json').end(JSON.stringify(note('a', 1)))
    })
    const transport = createFetchTransport({ server: `${url}/prefix/`, token: async () => 'secret' })
    await using client = createClient(transport, common)
    expect(await client.get(Note, 'a')).toMatchObject({ kind: 'Note', metadata: { name: 'a' } })
    await client.patch(Note, 'a', { type: 'merge', patch: { spec: null } })
    const path = '/prefix/apis/example.com/v1/namespaces/default/notes/a'
    expect(seen).toEqual([
      ['GET', path, 'Bearer secret', ''],
      ['PATCH', path, 'Bearer secret', '{"spec":null}'],
    ])
  })

  it('rejects redirects, which could lead to an untrusted host', async () => {
    let requests = 0
    const url = await start((_, response) => {
      requests += 1
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    await using client = createClient(createFetchTransport({ server: url, token: 'secret' }), common)
    await expect(client.get(Note, 'a')).rejects.toMatchObject({
      code: 'Unreachable',
      message: expect.stringContaining('redirects are not followed') as string,
    })
    expect(requests).toBe(1)
  })

  it('uses only redirect modes that edge runtimes support', async () => {
    const fetch = async (_: unknown, init?: RequestInit) => {
      if (init?.redirect !== 'manual' && init?.redirect !== 'follow') throw new TypeError('Invalid redirect value')
      return Response.json(note('a', 1))
    }
    await using client = createClient(createFetchTransport({ server: 'https://host', fetch }), common)
    expect((await client.get(Note, 'a')).metadata.name).toBe('a')
  })

  it('watches, and disconnects when the loop exits', async () => {
    let gone: Promise<unknown> | undefined
    const url = await start((_, response) => {
      gone = new Promise((resolve) => response.once('close', resolve))
      response.write(event('ADDED', note('a', 6)))
    })
    await using client = createClient(createFetchTransport({ server: url }), common)
    for await (const { object } of client.watch(Note, { resourceVersion: '5' })) {
      expect(object.metadata.name).toBe('a')
      break
    }
    await gone
  })

  it('rejects with the reason of an aborted signal', async () => {
    let arrive = (): void => undefined
    const reached = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const url = await start(() => arrive())
    await using client = createClient(createFetchTransport({ server: url }), common)
    const abort = new AbortController()
    const call = client.get(Note, 'a', { signal: abort.signal })
    await reached
    abort.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })

  it('sends no request for a call that is aborted while its token is read', async () => {
    let requests = 0
    const fetch = async () => {
      requests++
      return Response.json(note('a', 1))
    }
    const abort = new AbortController()
    const token = async () => {
      abort.abort(new Error('enough'))
      return 'secret'
    }
    await using client = createClient(createFetchTransport({ server: 'https://host', fetch, token }), common)
    await expect(client.get(Note, 'a', { signal: abort.signal })).rejects.toThrow('enough')
    expect(requests).toBe(0)
  })

  it('reports an unreachable server, a closed client and an invalid URL', async () => {
    const failing = async () => Promise.reject(new TypeError('fetch failed'))
    const client = createClient(createFetchTransport({ server: 'https://a.example', fetch: failing }), common)
    await expect(client.get(Note, 'a')).rejects.toMatchObject({
      code: 'Unreachable',
      message: 'cannot reach https://a.example: fetch failed',
    })
    await client.close()
    await expect(client.get(Note, 'a')).rejects.toMatchObject({ code: 'Closed' })
    expect(() => createFetchTransport({ server: 'a.example:80' })).toThrow('is not an HTTP or HTTPS URL')
  })
})
