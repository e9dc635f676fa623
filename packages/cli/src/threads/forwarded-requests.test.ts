import type { ApiRequest, ProxiedRequest } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { forwardRequest, isForwarded, receivedRequest } from './forwarded-requests.ts'

const rules = (simulatesNodes = false) => ({
  simulatesNodes,
  storage: { count: (prefix: string) => (prefix === '/core/resourcequotas/limited/' ? 1 : 0) },
})

describe('a worker forwards', () => {
  it.each([
    ['POST', '/api/v1/namespaces/shop/services', true],
    ['DELETE', '/api/v1/namespaces/shop/services/web', true],
    ['PATCH', '/api/v1/namespaces/shop/%73ervices/web', true],
    ['GET', '/api/v1/namespaces/shop/services/web', false],
    ['POST', '/apis/networking.k8s.io/v1/ipaddresses', true],
    ['POST', '/api/v1/namespaces/limited/pods', true],
    ['GET', '/api/v1/namespaces/limited/pods', false],
    ['POST', '/api/v1/namespaces/shop/pods', false],
    ['POST', '/api/v1/namespaces/..%2Flimited/pods', false],
    ['POST', '/api/v1/namespaces', false],
    ['PUT', '/api/v1/namespaces/shop/finalize', false],
    ['GET', '/metrics', true],
    ['GET', '/openapi/v3', false],
    ['POST', '/api/v1/namespaces/shop/pods/a/exec', false],
  ])('%s %s: %s', (method, path, expected) => {
    expect(isForwarded({ method, path }, rules())).toBe(expected)
  })

  it('streams of pods and nodes that the writer simulates', () => {
    for (const path of ['/api/v1/namespaces/shop/pods/a/exec', '/api/v1/namespaces/shop/pods/a/log', '/api/v1/nodes/a/proxy/x'])
      expect(isForwarded({ method: 'GET', path }, rules(true))).toBe(true)
  })
})

describe('a forwarded request', () => {
  const { signal } = new AbortController()
  const certificate = new Uint8Array([1, 2, 250])

  async function forwarded(
    headers: ApiRequest['headers'],
    upgradable = false,
  ): Promise<{ sent: ProxiedRequest; arrived: ApiRequest }> {
    const sent: ProxiedRequest[] = []
    const writer = {
      send: async (request: ProxiedRequest) => {
        sent.push(request)
        return { status: 200, headers: { connection: 'keep-alive', etag: 'x' }, body: { kind: 'empty' } } as const
      },
      close: () => undefined,
    }
    const response = await forwardRequest(
      {
        ...{ method: 'POST', path: '/api/v1/services', query: 'a=b', signal, headers, upgradable },
        body: async () => Buffer.from('{}'),
        peer: { address: '192.0.2.1', certificates: [certificate] },
      },
      writer,
    )
    expect(response.headers.etag).toBe('x')
    const [only] = sent
    if (only === undefined) throw new Error('nothing was sent')
    const arrived = receivedRequest({
      ...{ method: 'POST', path: '/api/v1/services', query: 'a=b', signal, headers: only.headers, peer: {} },
      body: async () => new Uint8Array(),
    })
    return { sent: only, arrived }
  }

  it('arrives with its client and its headers, which no header of the client can replace', async () => {
    const origin = Buffer.from('{"address":"10.0.0.9","certificates":[],"headers":{}}').toString('base64')
    const headers = {
      ...{ authorization: 'Bearer x', connection: 'close', 'x-krmkit-origin': origin },
      ...{ 'impersonate-user': 'mallory ', 'impersonate-group': ['a', '\u00fc, b'], 'impersonate-uid': 'x\u0000\r\n' },
    }
    const { sent, arrived } = await forwarded({ ...headers, 'accept-encoding': 'gzip' })
    expect(sent).toMatchObject({ method: 'POST', path: '/api/v1/services?a=b', body: Buffer.from('{}') })
    expect(Object.keys(sent.headers)).toEqual(['x-krmkit-origin'])
    expect(arrived.headers).toEqual(headers)
    expect(arrived.peer).toEqual({ address: '192.0.2.1', certificates: [certificate] })
  })

  it('streams a body that is still arriving, and sends one that has arrived as a whole', async () => {
    async function* chunks() {
      yield Buffer.from('{}')
    }
    const bodies = [true, false].map(async (isBodyReceived) => {
      const sent: ProxiedRequest[] = []
      const writer = {
        send: async (request: ProxiedRequest) => {
          sent.push(request)
          return { status: 200, headers: {}, body: { kind: 'empty' } } as const
        },
        close: () => undefined,
      }
      const request = {
        method: 'POST',
        path: '/api/v1/services',
        query: '',
        signal,
        headers: { 'content-length': '2' },
        peer: {},
      }
      await forwardRequest({ ...request, isBodyReceived, body: async () => Buffer.from('{}'), stream: chunks }, writer)
      return sent[0]
    })
    const [whole, streamed] = await Promise.all(bodies)
    expect(whole?.body).toEqual(Buffer.from('{}'))
    expect(streamed?.body).not.toBeInstanceOf(Uint8Array)
    expect(streamed?.headers).not.toHaveProperty('content-length')
  })

  it('with an upgrade makes the handshake between worker and writer', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k', authorization: 'Bearer x' }
    const { sent, arrived } = await forwarded(headers, true)
    expect(Object.keys(sent.headers)).toEqual(['connection', 'upgrade', 'sec-websocket-key', 'x-krmkit-origin'])
    expect(arrived.headers).toEqual(headers)
  })
})
