import { fakeClock, type JsonObject } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler, ProxiedRequest } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { afterEach, describe, expect, it } from 'vitest'
import { definitionsPath, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { createApiServer, type EmbeddedServer } from '../server/server.ts'
import { readBodyText } from './body-text.ts'
import type { Aggregation } from './interfaces.ts'

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Body = any

async function start(aggregation: Aggregation) {
  const clock = fakeClock(Date.UTC(2025, 0, 2))
  const server = await createApiServer({ storage: memoryStorage(), aggregation, clock })
  servers.push(server)
  const call = async (method: string, path: string, given?: unknown, headers: Record<string, string> = {}) => {
    const bytes = new TextEncoder().encode(given === undefined ? '' : JSON.stringify(given))
    const response = await server.handle({
      method,
      path,
      query: '',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: async () => bytes,
      peer: { address: '10.1.2.3' },
      signal: new AbortController().signal,
      user: { username: 'alice', groups: ['dev', 'system:authenticated'], extra: { 'Example.com/Team': ['blue'] } },
    })
    return { status: response.status, text: await readBodyText(response, Number.POSITIVE_INFINITY) }
  }
  const json = async (...given: Parameters<typeof call>): Promise<Body> => JSON.parse((await call(...given)).text)
  const settle = async () => {
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  await settle()
  return { call, json, settle, clock, server }
}

const answer = (object: object, status = 200): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: { kind: 'bytes', bytes: new TextEncoder().encode(JSON.stringify(object)) },
})

const list = {
  kind: 'APIResourceList',
  groupVersion: 'metrics.example.com/v1',
  resources: [
    { name: 'gauges', singularName: 'gauge', namespaced: true, kind: 'Gauge', verbs: ['get', 'list'], shortNames: ['gg'] },
    { name: 'gauges/status', namespaced: true, kind: 'Gauge', verbs: ['get'] },
  ],
}

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
const metrics = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.metrics.example.com' },
  spec: {
    group: 'metrics.example.com',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { namespace: 'kube-system', name: 'metrics' },
    ...spec,
  },
})

const conditionOf = async (json: (method: string, path: string) => Promise<Body>) =>
  (await json('GET', `${apiServices}/v1.metrics.example.com`)).status.conditions?.[0]

describe('APIService objects of local group versions', () => {
  it('exist from the start, like on kube-apiserver', async () => {
    const { json } = await start({})
    const { items } = await json('GET', apiServices)
    const names = items.map(({ metadata }: Body) => metadata.name)
    expect(names).toContain('v1.')
    expect(names).toContain('v1.apps')
    expect(names).not.toContain('v1.apiregistration.k8s.io')
    const apps = items.find(({ metadata }: Body) => metadata.name === 'v1.apps')
    expect(apps.metadata.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'onstart' })
    expect(apps.spec).toEqual({ group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 })
    expect(apps.status.conditions[0]).toMatchObject({
      type: 'Available',
      status: 'True',
      reason: 'Local',
      message: 'Local APIServices are always available',
    })
  })

  it('follow definitions, and are restored after deletion', async () => {
    const { call, json, settle } = await start({})
    const definition = widgetDefinition([{ schema: { openAPIV3Schema: { type: 'object' } } }])
    await call('POST', definitionsPath, definition)
    await settle()
    const made = await json('GET', `${apiServices}/v1.g.example.com`)
    expect(made.metadata.labels).toEqual({ 'kube-aggregator.kubernetes.io/automanaged': 'true' })
    expect(made.spec).toEqual({ group: 'g.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 })
    await call('DELETE', `${apiServices}/v1.g.example.com`)
    await settle()
    expect((await call('GET', `${apiServices}/v1.g.example.com`)).status).toBe(200)
    await call('DELETE', `${definitionsPath}/widgets.g.example.com`)
    await settle()
    expect((await call('GET', `${apiServices}/v1.g.example.com`)).status).toBe(404)
  })
})

describe('group versions of other servers', () => {
  it('are served by an in-process service that receives the user, and appear in discovery', async () => {
    const seenRequests: ApiRequest[] = []
    const handle: Handler = async (request) => {
      seenRequests.push(request)
      return request.path === '/apis/metrics.example.com/v1' ? answer(list) : answer({ kind: 'Gauge', path: request.path })
    }
    const { call, json, settle } = await start({ services: { 'kube-system/metrics': handle } })
    expect((await call('GET', '/apis/metrics.example.com/v1/gauges')).status).toBe(404)
    expect((await call('POST', apiServices, metrics())).status).toBe(201)
    await settle()
    expect(await conditionOf(json)).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' })
    expect(await json('GET', '/apis/metrics.example.com/v1/namespaces/a/gauges/x')).toEqual({
      kind: 'Gauge',
      path: '/apis/metrics.example.com/v1/namespaces/a/gauges/x',
    })
    expect(seenRequests.at(-1)?.user?.username).toBe('alice')
    expect(await json('GET', '/apis/metrics.example.com/v1')).toEqual(list)
    expect((await json('GET', '/apis/metrics.example.com')).preferredVersion.groupVersion).toBe('metrics.example.com/v1')
    expect((await json('GET', '/apis')).groups.at(-1).name).toBe('metrics.example.com')
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const aggregated = await json('GET', '/apis', undefined, { accept })
    expect(aggregated.items.at(-1)).toEqual({
      metadata: { name: 'metrics.example.com', creationTimestamp: null },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'gauges',
              responseKind: { group: '', version: '', kind: 'Gauge' },
              scope: 'Namespaced',
              singularResource: 'gauge',
              verbs: ['get', 'list'],
              shortNames: ['gg'],
              subresources: [
                {
                  subresource: 'status',
                  responseKind: { group: '', version: '', kind: 'Gauge' },
                  verbs: ['get'],
                },
              ],
            },
          ],
        },
      ],
    })
    await call('DELETE', `${apiServices}/v1.metrics.example.com`)
    await settle()
    expect((await call('GET', '/apis/metrics.example.com')).status).toBe(404)
  })

  it('are marked unavailable when a check fails, and checked again', async () => {
    let there = false
    const handle: Handler = async () => (there ? answer(list) : answer({}, 500))
    const { call, json, settle, clock } = await start({ services: { 'kube-system/metrics': handle } })
    await call('POST', apiServices, metrics())
    await settle()
    expect(await conditionOf(json)).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck' })
    expect(await call('GET', '/apis/metrics.example.com/v1/gauges')).toEqual({ status: 503, text: 'service unavailable\n' })
    there = true
    clock.advance(5_000)
    await settle()
    expect(await conditionOf(json)).toMatchObject({ status: 'True', reason: 'Passed' })
    expect((await call('GET', '/apis/metrics.example.com/v1')).status).toBe(200)
    const gauge = 'aggregator_unavailable_apiservice{name="v1.metrics.example.com"}'
    expect((await call('GET', '/metrics')).text).toContain(`${gauge} 0`)
    there = false
    clock.advance(30_000)
    await settle()
    const { text } = await call('GET', '/metrics')
    expect(text).toContain(`${gauge} 1`)
    expect(text).toContain('_total{name="v1.metrics.example.com",reason="FailedDiscoveryCheck"} 1')
    await call('DELETE', `${apiServices}/v1.metrics.example.com`)
    await settle()
    expect((await call('GET', '/metrics')).text).not.toContain(gauge)
  })

  it('require a service port and endpoints, and follow their changes at once', async () => {
    const transport = { open: () => ({ send: async () => answer(list), close: () => undefined }) }
    const { call, json, settle } = await start({ transport })
    await call('POST', apiServices, metrics())
    await settle()
    expect(await conditionOf(json)).toMatchObject({
      reason: 'ServiceNotFound',
      message: 'service/metrics in "kube-system" is not present',
    })
    const services = '/api/v1/namespaces/kube-system/services'
    const made = await call('POST', services, { metadata: { name: 'metrics' }, spec: { ports: [{ port: 443 }] } })
    expect(made.status).toBe(201)
    await settle()
    expect((await conditionOf(json)).reason).toBe('EndpointsNotFound')
    const subsets = [{ addresses: [{ ip: '10.0.0.7' }], ports: [{ port: 443 }] }]
    await call('POST', '/api/v1/namespaces/kube-system/endpoints', { metadata: { name: 'metrics' }, subsets })
    await settle()
    expect((await conditionOf(json)).reason).toBe('Passed')
  })

  it('receive the identity in headers that clients cannot set', async () => {
    const sent: ProxiedRequest[] = []
    const transport = {
      open: () => ({
        async send(request: ProxiedRequest) {
          sent.push(request)
          return answer(list)
        },
        close: () => undefined,
      }),
    }
    const { call, settle } = await start({ transport, resolveService: () => ({ host: '127.0.0.1', port: 1 }) })
    await call('POST', apiServices, metrics())
    await settle()
    const headers = {
      'x-remote-user': 'root',
      'x-remote-extra-x': 'y',
      authorization: 'Bearer secret',
      'sec-websocket-protocol': 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v4.channel.k8s.io',
      'x-other': 'kept',
    }
    await call('POST', '/apis/metrics.example.com/v1/namespaces/a/gauges', { a: 1 }, headers)
    const request = sent.at(-1)!
    expect(request).toMatchObject({ method: 'POST', path: '/apis/metrics.example.com/v1/namespaces/a/gauges' })
    expect(request.headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      'x-other': 'kept',
      'sec-websocket-protocol': 'v4.channel.k8s.io',
      'x-remote-user': 'alice',
      'x-remote-group': ['dev', 'system:authenticated'],
      'x-remote-extra-example.com%2Fteam': ['blue'],
      'x-forwarded-for': '10.1.2.3',
      'x-forwarded-host': '127.0.0.1:1',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/apis/metrics.example.com/v1/namespaces/a/gauges',
      'audit-id': expect.any(String),
      host: '127.0.0.1:1',
    })
    expect(new TextDecoder().decode(request.body as Uint8Array)).toBe('{"a":1}')
  })

  it('report unreachable services with the messages of kube-apiserver', async () => {
    const transport = { open: () => ({ send: () => Promise.reject(new Error('dial tcp: refused')), close: () => undefined }) }
    const { call, json, settle } = await start({ transport, resolveService: () => ({ host: '10.0.0.9', port: 443 }) })
    await call('POST', apiServices, metrics())
    await settle()
    const url = 'https://10.0.0.9:443/apis/metrics.example.com/v1'
    expect(await conditionOf(json)).toMatchObject({
      status: 'False',
      reason: 'FailedDiscoveryCheck',
      message: `failing or missing response from ${url}: Get "${url}": dial tcp: refused`,
    })
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const { items } = await json('GET', '/apis', undefined, { accept })
    expect(items.at(-1).versions).toEqual([{ version: 'v1', freshness: 'Stale' }])
  })

  it('are served locally as soon as the APIService is deleted', async () => {
    const { call, json, settle } = await start({})
    await call('POST', apiServices, metrics())
    await settle()
    expect(await conditionOf(json)).toMatchObject({ status: 'False', reason: 'FailedDiscoveryCheck' })
    const patch = { spec: { service: null } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await call('PATCH', `${apiServices}/v1.metrics.example.com`, patch, headers)).status).toBe(200)
    await settle()
    expect(await conditionOf(json)).toMatchObject({ status: 'True', reason: 'Local' })
  })

  it('are unavailable when the check times out', async () => {
    const sent: ProxiedRequest[] = []
    const transport = {
      open: () => ({
        send(request: ProxiedRequest) {
          sent.push(request)
          if (sent.length === 1) return Promise.resolve(answer({ status: 'odd' }, 404))
          return new Promise<ApiResponse>((_, reject) =>
            request.signal.addEventListener('abort', () => reject(request.signal.reason as Error)),
          )
        },
        close: () => undefined,
      }),
    }
    const { call, json, settle, clock } = await start({ transport, resolveService: () => ({ host: '::1', port: 443 }) })
    await call('POST', apiServices, metrics())
    await settle()
    const url = 'https://[::1]:443/apis/metrics.example.com/v1'
    expect((await conditionOf(json)).message).toBe(`failing or missing response from ${url}: bad status from ${url}: 404`)
    clock.advance(1_000)
    await settle()
    clock.advance(5_000)
    await settle()
    expect((await conditionOf(json)).message).toBe(
      `failing or missing response from ${url}: Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    )
    expect(sent[0]!.headers).toMatchObject({ 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': ['system:masters'] })
  })

  it('abort requests of disconnected clients and after the deadline, discovery earlier', async () => {
    const reasons: string[] = []
    const transport = {
      open: () => ({
        async send(request: ProxiedRequest): Promise<ApiResponse> {
          if (!('audit-id' in request.headers)) return answer(list)
          return new Promise((_, reject) => {
            request.signal.addEventListener('abort', () => {
              reasons.push(`${request.path} ${String((request.signal.reason as Error).message)}`)
              reject(request.signal.reason as Error)
            })
          })
        },
        close: () => undefined,
      }),
    }
    const { call, settle, clock } = await start({ transport, resolveService: () => ({ host: '127.0.0.1', port: 443 }) })
    await call('POST', apiServices, metrics())
    await settle()
    const discovery = call('GET', '/apis/metrics.example.com/v1')
    const get = call('GET', '/apis/metrics.example.com/v1/namespaces/a/gauges/x')
    await settle()
    clock.advance(5_000)
    expect(await discovery).toEqual({ status: 503, text: 'error trying to reach service: context deadline exceeded\n' })
    clock.advance(55_000)
    await get
    expect(reasons).toEqual([
      '/apis/metrics.example.com/v1 context deadline exceeded',
      '/apis/metrics.example.com/v1/namespaces/a/gauges/x context deadline exceeded',
    ])
  })

  it('use a renewed client certificate', async () => {
    let certificate = 'first'
    const opened: string[] = []
    const transport = {
      open: (target: { readonly certificate?: string }) => {
        opened.push(String(target.certificate))
        return { send: async () => answer(list), close: () => void opened.push('closed') }
      },
    }
    const identity = () => ({ certificate, key: 'k' })
    const { call, settle, clock } = await start({ transport, identity, resolveService: () => ({ host: '127.0.0.1', port: 1 }) })
    await call('POST', apiServices, metrics())
    await settle()
    certificate = 'second'
    clock.advance(30_000)
    await settle()
    expect(opened).toEqual(['first', 'first', 'second', 'second', 'closed', 'closed'])
  })

  it('convert the OpenAPI v2 documents of older servers to v3', async () => {
    const document = {
      swagger: '2.0',
      paths: {
        '/apis/metrics.example.com/v1/gauges': { get: { responses: { 200: { schema: { $ref: '#/definitions/Gauge' } } } } },
      },
      definitions: { Gauge: { type: 'object' } },
    }
    const handle: Handler = async ({ path }) => {
      if (path === '/openapi/v2') return answer(document)
      return path === '/apis/metrics.example.com/v1' ? answer(list) : answer({}, 404)
    }
    const { call, json, settle } = await start({ services: { 'kube-system/metrics': handle } })
    await call('POST', apiServices, metrics())
    await settle()
    const { paths } = await json('GET', '/openapi/v3')
    const address = new URL(paths['apis/metrics.example.com/v1'].serverRelativeURL, 'http://h')
    expect(address.searchParams.get('hash')).toMatch(/^[0-9A-F]{128}$/)
    const { components } = await json('GET', address.pathname)
    expect(components.schemas).toEqual({ Gauge: { type: 'object' } })
    expect((await json('GET', '/openapi/v2')).definitions.Gauge).toEqual({ type: 'object' })
    await call('DELETE', `${apiServices}/v1.metrics.example.com`)
    await settle()
    expect((await json('GET', '/openapi/v2')).definitions.Gauge).toBeUndefined()
    expect((await call('GET', address.pathname)).status).toBe(404)
  })
})
