import { defaultAdmissionPlugins } from '@krmkit/admission'
import { type ApiServerOptions, createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import type { UserInfo } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { trace } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'

/** The spans of requests, as the SDK of OpenTelemetry records them. */

const administrator: UserInfo = { username: 'admin', groups: ['system:masters'] }
const jane: UserInfo = { username: 'jane', groups: ['system:authenticated'] }
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`

interface Asking {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly user?: UserInfo
}

async function tracedServer(options: Partial<ApiServerOptions> = {}, root = new AlwaysOnSampler()) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  const server = await createApiServer({ storage: memoryStorage(), tracer: provider.getTracer('test'), ...options })
  return { server, exporter, ask: (target: string, asking: Asking = {}) => ask(server, target, asking) }
}

async function ask(server: EmbeddedServer, target: string, { method = 'GET', body, headers = {}, user = administrator }: Asking) {
  const [path = '', query = ''] = target.split('?')
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body))
  return server.handle({
    ...{ method, path, query, user, peer: { address: '10.1.2.3' } },
    headers: { 'content-type': 'application/json', 'audit-id': 'audit-1', ...headers },
    body: async () => bytes,
    signal: new AbortController().signal,
  })
}

const named = (exporter: InMemorySpanExporter, name: string): ReadableSpan => {
  const found = exporter.getFinishedSpans().find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} in ${exporter.getFinishedSpans().map((span) => span.name)}`)
  return found
}

/** The spans as a tree of names, in order of their start. */
function treeOf(exporter: InMemorySpanExporter): object {
  const spans = exporter.getFinishedSpans()
  const startedBy = (span: ReadableSpan) => span.startTime[0] * 1e9 + span.startTime[1]
  const below = (parent: string | undefined): object =>
    Object.fromEntries(
      spans
        .filter((span) => span.parentSpanContext?.spanId === parent)
        .sort((a, b) => startedBy(a) - startedBy(b))
        .map((span) => [span.name, below(span.spanContext().spanId)]),
    )
  return below(undefined)
}

const eventsOf = (span: ReadableSpan) => span.events.map(({ name }) => name)
const configMaps = '/api/v1/namespaces/default/configmaps'

describe('spans', () => {
  it('have the names and the order of kube-apiserver', async () => {
    const { ask, exporter } = await tracedServer()
    await ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } } })
    const filters = { authentication: {}, impersonation: {}, priorityandfairness: {}, authorization: {} }
    expect(treeOf(exporter)).toEqual({
      'POST /api/v1/namespaces/{:namespace}/configmaps': { ...filters, Create: { 'Create etcd3': {}, SerializeObject: {} } },
    })
    exporter.reset()
    await ask(`${configMaps}/a`)
    expect(treeOf(exporter)).toEqual({
      'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}': { ...filters, Get: { 'cacher.Get': {}, SerializeObject: {} } },
    })
  })

  it.each([
    ['GET', configMaps, 'List', ['cacher.GetList']],
    ['PUT', `${configMaps}/a`, 'Update', ['GuaranteedUpdate etcd3']],
    ['PATCH', `${configMaps}/a`, 'Patch', ['GuaranteedUpdate etcd3']],
    ['DELETE', `${configMaps}/a`, 'Delete', []],
  ])('of %s %s contain %s and the spans of storage %j', async (method, target, verb, [storage]) => {
    const { ask, exporter } = await tracedServer()
    await ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } } })
    exporter.reset()
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const { status } = await ask(target, {
      method,
      headers,
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: { metadata: { name: 'a' }, data: { x: '1' } } }),
    })
    expect(status).toBe(200)
    const span = named(exporter, verb)
    expect(span.ended).toBe(true)
    if (storage !== undefined) {
      expect(named(exporter, storage).parentSpanContext?.spanId).toBe(span.spanContext().spanId)
      expect(named(exporter, storage).attributes['audit-id']).toBe('audit-1')
    }
  })

  it('carry the attributes and events of kube-apiserver', async () => {
    const { ask, exporter } = await tracedServer()
    const { headers } = await ask(`${configMaps}?fieldManager=me`, {
      method: 'POST',
      body: { metadata: { name: 'a' } },
      headers: { host: 'api.example.com:6443', 'user-agent': 'kubectl/v1.33.0' },
    })
    expect(headers['audit-id']).toBe('audit-1')
    expect(named(exporter, 'POST /api/v1/namespaces/{:namespace}/configmaps')).toMatchObject({
      kind: 1,
      attributes: {
        'http.method': 'POST',
        'http.target': `${configMaps}?fieldManager=me`,
        'http.status_code': 201,
        'net.host.name': 'api.example.com',
        'net.host.port': 6443,
        'net.sock.peer.addr': '10.1.2.3',
        'user_agent.original': 'kubectl/v1.33.0',
      },
    })
    const create = named(exporter, 'Create')
    expect(create.attributes).toMatchObject({
      'audit-id': 'audit-1',
      client: '10.1.2.3',
      'api-group': '',
      'api-version': 'v1',
      namespace: 'default',
      resource: 'configmaps',
      scope: 'resource',
      url: configMaps,
      'user-agent': 'kubectl/v1.33.0',
      verb: 'POST',
    })
    expect(eventsOf(create)).toEqual([
      'limitedReadBody succeeded',
      'About to convert to expected version',
      'Conversion done',
      'About to store object in database',
      'Write to database call succeeded',
      'About to write a response',
      'Writing http response done',
    ])
    expect(named(exporter, 'Create etcd3').attributes).toMatchObject({
      resource: 'configmaps',
      key: '/core/configmaps/default/a',
    })
    expect(named(exporter, 'SerializeObject').attributes).toMatchObject({ mediaType: 'application/json', method: 'POST' })
  })

  it('end with the stream of a watch', async () => {
    const { ask, server, exporter } = await tracedServer()
    const { body } = await ask(`${configMaps}?watch=1`)
    const isEnded = () => exporter.getFinishedSpans().some(({ name }) => name.endsWith('configmaps'))
    if (body.kind !== 'stream') throw new Error('no stream')
    const reader = body.stream[Symbol.asyncIterator]()
    const first = reader.next()
    expect(isEnded()).toBe(false)
    await server.close()
    for (let next = await first; next.done !== true; next = await reader.next());
    expect(isEnded()).toBe(true)
  })

  it('of failures of the server are marked, and refusals of the client are not', async () => {
    const { ask, exporter } = await tracedServer()
    await ask(`${configMaps}/missing`)
    expect(named(exporter, 'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}')).toMatchObject({
      status: { code: 0 },
      attributes: { 'http.status_code': 404 },
    })
    const failing = await tracedServer({
      admission: [
        {
          name: 'Failing',
          handles: ({ resource }) => resource.resource === 'configmaps',
          validate() {
            throw new Error('no disk')
          },
        },
      ],
    })
    await failing.ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } } })
    expect(named(failing.exporter, 'POST /api/v1/namespaces/{:namespace}/configmaps').status.code).toBe(2)
  })
})

describe('the trace of a client', () => {
  it('is continued for administrators and monitoring', async () => {
    const { ask, exporter } = await tracedServer()
    await ask('/version', { headers: { traceparent } })
    expect(named(exporter, 'GET')).toMatchObject({ parentSpanContext: { traceId, spanId, isRemote: true }, links: [] })
  })

  it('is a link for other users, so that they do not decide what is sampled', async () => {
    const { ask, exporter } = await tracedServer()
    await ask('/version', { headers: { traceparent }, user: jane })
    const span = named(exporter, 'GET')
    expect(span.parentSpanContext).toBeUndefined()
    expect(span.spanContext().traceId).not.toBe(traceId)
    expect(span.links).toMatchObject([{ context: { traceId, spanId } }])
    const unsampled = await tracedServer({}, new AlwaysOffSampler())
    await unsampled.ask('/version', { headers: { traceparent }, user: jane })
    expect(unsampled.exporter.getFinishedSpans()).toEqual([])
    await unsampled.ask('/version', { headers: { traceparent } })
    expect(unsampled.exporter.getFinishedSpans().length).toBeGreaterThan(0)
  })

  it('is not recorded where the gate APIServerTracing is off', async () => {
    const { createFeatureGates } = await import('@krmkit/versioning')
    const { ask, exporter } = await tracedServer({ features: createFeatureGates({ set: 'APIServerTracing=false' }) })
    await ask('/version')
    expect(exporter.getFinishedSpans()).toEqual([])
  })
})

describe('webhooks', () => {
  const url = 'https://hooks.test/validate'
  const configuration = {
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }

  /** The headers that the webhook receives for a ConfigMap. */
  async function received(options: Partial<ApiServerOptions>, headers: Readonly<Record<string, string>>) {
    const sent: Readonly<Record<string, string>>[] = []
    const transport = {
      open: () => async (request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }) => {
        sent.push(request.headers)
        const { uid } = JSON.parse(request.body).request as { uid: string }
        const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }
        const body = new TextEncoder().encode(JSON.stringify(review))
        return { status: 200, headers: { 'content-type': 'application/json' }, body }
      },
    }
    const traced = await tracedServer({
      admission: (environment) => defaultAdmissionPlugins({ ...environment, webhooks: { transport } }),
      ...options,
    })
    const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
    expect((await traced.ask(hooks, { method: 'POST', body: configuration })).status).toBe(201)
    traced.exporter.reset()
    expect((await traced.ask(configMaps, { method: 'POST', body: { metadata: { name: 'a' } }, headers })).status).toBe(201)
    return { sent: sent[0] ?? {}, exporter: traced.exporter }
  }

  it('have a span, and continue the trace', async () => {
    const { sent, exporter } = await received({}, { traceparent, baggage: 'tenant=blue' })
    const call = named(exporter, 'Call validating webhook')
    expect(call.attributes).toMatchObject({
      configuration: 'hooks',
      webhook: 'hook.example.com',
      resource: '/v1, Resource=configmaps',
      operation: 'CREATE',
    })
    expect(eventsOf(call)).toEqual(['Request completed'])
    const client = named(exporter, 'HTTP POST')
    expect(client).toMatchObject({ kind: 2, attributes: { 'http.status_code': 200, 'net.peer.name': 'hooks.test' } })
    expect(sent).toMatchObject({ traceparent: `00-${traceId}-${client.spanContext().spanId}-01`, baggage: 'tenant=blue' })
  })

  it('get the trace of the client from a server without a tracer', async () => {
    const { createFeatureGates } = await import('@krmkit/versioning')
    const off = { features: createFeatureGates({ set: 'APIServerTracing=false' }) }
    expect((await received(off, { traceparent, tracestate: 'a=1' })).sent).toMatchObject({ traceparent, tracestate: 'a=1' })
    expect((await received(off, {})).sent).not.toHaveProperty('traceparent')
  })
})

describe('Tracer', () => {
  it('is what the API of OpenTelemetry gives out', async () => {
    await using server = await createApiServer({ storage: memoryStorage(), tracer: trace.getTracer('krmkit') })
    expect((await ask(server, '/version', {})).status).toBe(200)
  })
})
