import { fakeClock } from '@krmkit/meta'
import type { WebhookRequest, WebhookResponse, WebhookTarget } from '@krmkit/protocol'
import { describe, expect, it } from 'vitest'
import { contextOf } from '../testing/request.ts'
import { failureOf } from '../testing/webhooks.ts'
import { WebhookClient } from './client.ts'
import { createCredentialsResolver } from './credentials.ts'
import { type ClientConfig, hooksOf } from './hook.ts'
import { createClusterServiceResolver } from './service-resolver.ts'

const hookAt = (clientConfig: ClientConfig) => {
  const [hook] = hooksOf({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'c' },
    webhooks: [{ name: 'h', clientConfig }],
  } as never)
  if (hook === undefined) throw new Error('no webhook')
  return hook
}
const json = { 'content-type': 'application/json' }
const fine: WebhookResponse = { status: 200, headers: json, body: new TextEncoder().encode('{}') }
const { reader } = contextOf()
/** Lets everything run that waits for no clock. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
const bounds = { signal: new AbortController().signal, timeoutSeconds: 10 }

/** A transport that responses one after the other, and remembers where it was led. */
function transportOf(...responses: (WebhookResponse | Error)[]) {
  const targets: WebhookTarget[] = []
  const requests: WebhookRequest[] = []
  const transport = {
    open(target: WebhookTarget) {
      targets.push(target)
      return async (request: WebhookRequest) => {
        requests.push(request)
        const response = responses.shift() ?? fine
        if (response instanceof Error) throw response
        return response
      }
    },
  }
  return { transport, targets, requests }
}

function post(client: WebhookClient, clientConfig: ClientConfig) {
  const endpoint = client.endpoint(hookAt(clientConfig), reader)
  if (endpoint.kind !== 'remote') throw new Error('not remote')
  return endpoint.post('{"a":1}', bounds)
}

const clock = fakeClock()
const url = 'https://hooks.test:8443/validate'

describe('WebhookClient', () => {
  it('posts JSON with the timeout parameter [P231]', async () => {
    const { transport, requests, targets } = transportOf()
    await post(new WebhookClient({ clock, transport }), { url, caBundle: btoa('PEM') })
    expect(targets).toEqual([{ origin: 'https://hooks.test:8443', ca: 'PEM' }])
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/validate?timeout=10s',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json', accept: 'application/json, */*' },
    })
  })

  it('resolves a service, by default port 443 and path / [P75, P76, P84]', async () => {
    const { transport, targets, requests } = transportOf()
    const resolveService = () => ({ host: '10.0.0.7', port: 8443 })
    await post(new WebhookClient({ clock, transport, resolveService }), { service: { namespace: 'shop', name: 'hook' } })
    expect(targets[0]).toMatchObject({ origin: 'https://hook.shop.svc:443', serverName: 'hook.shop.svc' })
    expect(await targets[0]?.resolve?.()).toEqual({ host: '10.0.0.7', port: 8443 })
    expect(requests[0]?.path).toBe('/?timeout=10s')
  })

  it.each<[string, ClientConfig, string]>([
    ['neither URL nor service', {}, 'webhook configuration must have either service or URL'],
    ['an invalid URL', { url: '::' }, 'Unparsable URL'],
    ['plain HTTP [P74]', { url: 'http://hooks.test' }, 'Unparsable URL'],
    ['a bundle that is not base64 [P77]', { url, caBundle: '*' }, 'unable to parse bytes as PEM block'],
  ])('rejects a configuration with %s', (_, config, message) => {
    const client = new WebhookClient({ clock, transport: transportOf().transport })
    expect(() => client.endpoint(hookAt(config), reader)).toThrow(
      expect.objectContaining({ httpCode: 400, message: expect.stringContaining(message) }),
    )
  })

  it('calls only in-process webhooks without a transport', () => {
    const client = new WebhookClient({ clock, inProcess: { [url]: () => ({ allowed: true }) } })
    expect(client.endpoint(hookAt({ url }), reader).kind).toBe('function')
    expect(() => client.endpoint(hookAt({ url: 'https://other.test' }), reader)).toThrow('no webhook transport is configured')
  })

  it.each([201, 206])('accepts status %i [P232]', async (status) => {
    const { transport } = transportOf({ ...fine, status })
    expect(await post(new WebhookClient({ clock, transport }), { url })).toEqual(fine.body)
  })

  const busy = (status: number, retryAfter?: string): WebhookResponse => ({
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    body: new Uint8Array(),
  })

  it('calls again when a response asks for it with Retry-After, after as many seconds', async () => {
    const clock = fakeClock()
    const { transport, requests } = transportOf(busy(429, '2'), busy(503, '+1'), busy(500, '0'), busy(502, '-1'), fine)
    const running = post(new WebhookClient({ clock, transport }), { url })
    const calls: number[] = []
    for (const ms of [0, 1999, 1, 1000]) {
      clock.advance(ms)
      await settled()
      calls.push(requests.length)
    }
    expect(calls).toEqual([1, 1, 2, 5])
    expect(await running).toEqual(fine.body)
    expect(new Set(requests.map(({ path, body }) => path + body)).size).toBe(1)
    expect(clock.pending).toBe(0)
  })

  it('calls ten more times, then fails with the last response', async () => {
    const { transport, requests } = transportOf(...Array.from({ length: 30 }, () => busy(429, '0')))
    expect(await failureOf(post(new WebhookClient({ clock, transport }), { url }))).toMatchObject({
      message: 'failed to call webhook: the server has received too many requests and has asked us to try again later',
      httpCode: 429,
    })
    expect(requests).toHaveLength(11)
  })

  it.each<[number, string | undefined]>([
    [429, undefined],
    [429, 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [429, '1.5'],
    [429, '9223372036854775808'],
    [400, '1'],
    [404, '1'],
  ])('does not call again after status %i with Retry-After %s', async (status, retryAfter) => {
    const { transport, requests } = transportOf(busy(status, retryAfter))
    await failureOf(post(new WebhookClient({ clock, transport }), { url }))
    expect(requests).toHaveLength(1)
  })

  it('ends the pause before the next call with the deadline', async () => {
    const clock = fakeClock()
    const { transport } = transportOf(busy(429, '60'), new Error('aborted'))
    const endpoint = new WebhookClient({ clock, transport }).endpoint(hookAt({ url }), reader)
    if (endpoint.kind !== 'remote') throw new Error('not remote')
    const deadline = new AbortController()
    const running = failureOf(endpoint.post('', { signal: deadline.signal, timeoutSeconds: 10 }))
    await settled()
    deadline.abort(new Error('context deadline exceeded'))
    expect((await running).message).toBe(`failed to call webhook: Post "${url}?timeout=10s": context deadline exceeded`)
    expect(clock.pending).toBe(0)
  })

  it.each<[number, string, string, string]>([
    [500, 'text/plain', 'broken', 'an error on the server ("broken") has prevented the request from succeeding'],
    [500, '', 'broken', 'an error on the server ("broken") has prevented the request from succeeding'],
    [500, 'TEXT/plain', 'broken', 'an error on the server ("broken") has prevented the request from succeeding'],
    [500, 'text/plain', '', 'an error on the server ("") has prevented the request from succeeding'],
    [403, 'text/plain', '', ''],
    [207, 'application/json', '{}', 'the server responded with the status code 207 but did not return more information'],
    [500, 'application/json', '{}', 'an error on the server ("unknown") has prevented the request from succeeding'],
    [404, 'text/plain', 'x', 'the server could not find the requested resource'],
    [403, 'text/plain', 'keep out', 'keep out'],
    [403, 'application/json', '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"Forbidden"}', 'm'],
    [
      500,
      'application/json',
      '{"status":"Failure","code":"500"}',
      'an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [500, 'text/plain', 'status: Failure\nmessage: in yaml', 'in yaml'],
    [500, 'application/json', '{"status":"Failure"}', ''],
    [
      500,
      'text/plain',
      '{"status":"Success","message":"m"}',
      'an error on the server ("{\\"status\\":\\"Success\\",\\"message\\":\\"m\\"}") has prevented the request from succeeding',
    ],
  ])('fails for status %i (%s) [P320]', async (status, type, body, message) => {
    const { transport } = transportOf({ status, headers: { 'content-type': type }, body: new TextEncoder().encode(body) })
    expect(await failureOf(post(new WebhookClient({ clock, transport }), { url }))).toMatchObject({
      message: `failed to call webhook: ${message}`,
      httpCode: status,
    })
  })

  it('fails for an empty body and for a transport error [P307, P320]', async () => {
    const { transport } = transportOf({ status: 200, headers: {}, body: new Uint8Array() }, new Error('EOF'))
    const client = new WebhookClient({ clock, transport })
    expect(await failureOf(post(client, { url }))).toMatchObject({
      message: 'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
      httpCode: 400,
    })
    expect(await failureOf(post(client, { url }))).toMatchObject({
      message: `failed to call webhook: Post "${url}?timeout=10s": EOF`,
      httpCode: 400,
    })
  })

  it('follows redirects on the same origin only', async () => {
    const to = (location: string, status = 302): WebhookResponse => ({ status, headers: { location }, body: new Uint8Array() })
    const { transport, requests } = transportOf(to('/b', 307), to('/c'), fine, to('https://evil.test/'))
    const client = new WebhookClient({ clock, transport })
    await post(client, { url })
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/validate?timeout=10s', '{"a":1}'],
      ['POST', '/b', '{"a":1}'],
      ['GET', '/c', ''],
    ])
    expect((await failureOf(post(client, { url }))).message).toContain('the redirect to https://evil.test is not followed')
  })

  it('limits the number of redirects', async () => {
    const round: WebhookResponse = { status: 307, headers: { location: '/again' }, body: new Uint8Array() }
    const { transport, requests } = transportOf(...Array.from({ length: 30 }, () => round))
    await failureOf(post(new WebhookClient({ clock, transport }), { url }))
    expect(requests).toHaveLength(11)
  })

  it('sends credentials with every request, with the current token', async () => {
    const { transport, targets, requests } = transportOf()
    let token = 'one'
    const credentialsFor = createCredentialsResolver({
      users: { '*.shop.svc:443': { certificate: 'C', key: 'K', ca: 'A', authorization: () => `Bearer ${token}` } },
    })
    const client = new WebhookClient({
      clock,
      transport,
      resolveCredentials: credentialsFor,
      resolveService: () => ({ host: 'h', port: 1 }),
    })
    const hook = hookAt({ service: { namespace: 'shop', name: 'hook' }, caBundle: btoa('B') })
    const endpoint = client.endpoint(hook, reader)
    if (endpoint.kind !== 'remote') throw new Error('not remote')
    await endpoint.post('', bounds)
    token = 'two'
    await endpoint.post('', bounds)
    expect(client.endpoint(hook, reader)).toBe(endpoint)
    expect(targets).toHaveLength(1)
    expect(targets[0]).toMatchObject({ certificate: 'C', key: 'K', ca: 'A\nB' })
    expect(requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer one', 'Bearer two'])
  })
})

describe('createCredentialsResolver', () => {
  const named = (ca: string) => ({ ca })
  const choose = createCredentialsResolver({
    users: {
      'a.shop.svc:443': named('exact'),
      '*.shop.svc:443': named('star'),
      '*.svc': named('without port'),
      '*': named('wildcard'),
      me: named('current'),
    },
    current: 'me',
  })

  it.each([
    ['a.shop.svc:443', 'exact'],
    ['b.shop.svc:443', 'star'],
    ['b.other.svc:443', 'without port'],
    ['b.other.svc:8443', 'wildcard'],
    ['example.com:443', 'wildcard'],
  ])('resolves %s to %s', (host, ca) => expect(choose(host)?.ca).toBe(ca))

  it('falls back to the current context, then to no credentials', () => {
    expect(createCredentialsResolver({ users: { me: named('current') }, current: 'me' })('x:1')?.ca).toBe('current')
    expect(createCredentialsResolver({ users: {} })('x:1')).toBeUndefined()
  })
})

describe('createClusterServiceResolver', () => {
  const resolve = createClusterServiceResolver(
    contextOf({
      'services/shop/hook': { spec: { clusterIP: '10.0.0.9', ports: [{ port: 443 }] } },
      'services/shop/outside': { spec: { type: 'ExternalName', externalName: 'hooks.test' } },
      'services/shop/octal': { spec: { clusterIP: '0177.0.0.1', ports: [{ port: 443 }] } },
      'services/shop/numeric': { spec: { type: 'ExternalName', externalName: '0177.0.0.1' } },
      'services/shop/headless': { spec: { clusterIP: 'None', ports: [{ port: 443 }] } },
    }).reader,
  )
  const at = (name: string, port = 443) => resolve({ namespace: 'shop', name, port })

  it('resolves to the cluster IP or the external name', () => {
    expect(at('hook')).toEqual({ host: '10.0.0.9', port: 443 })
    expect(at('outside', 8443)).toEqual({ host: 'hooks.test', port: 8443 })
  })

  it('resolves to the canonical text of an address, and to no name that resolvers read as an address', () => {
    expect(at('octal')).toEqual({ host: '177.0.0.1', port: 443 })
    expect(() => at('numeric')).toThrow('lookup 0177.0.0.1: no such host')
  })

  it('fails for missing services, unknown ports and headless services', () => {
    expect(() => at('gone')).toThrow('service "gone" not found')
    expect(() => at('hook', 8443)).toThrow('no service port 8443 found for service "hook"')
    expect(() => at('headless')).toThrow('is not usable')
  })
})
