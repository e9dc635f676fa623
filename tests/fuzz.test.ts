import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { seededRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/**
 * Hostile requests of every sort against a whole server, without a socket. Whatever comes in, the answer is a proper one:
 * never a 500, never a hang, and refusals are Status documents. The seed is printed when something fails.
 */

const requests = 24_000
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121)

interface Draft {
  method: string
  path: string
  query: string
  headers: Record<string, string>
  body: Uint8Array
}

class Dice {
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  readonly #random = seededRandom(seed)

  below(limit: number): number {
    if (this.#at + 4 > this.#bytes.length) {
      this.#bytes = this.#random.bytes(4096)
      this.#at = 0
    }
    const view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, 4)
    this.#at += 4
    return view.getUint32(0) % limit
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}

const dice = new Dice()

const paths = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/secrets/a',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/pods/p',
  '/api/v1/namespaces/default/pods/p/status',
  '/api/v1/namespaces/default/pods/p/binding',
  '/api/v1/namespaces/default/pods/p/eviction',
  '/api/v1/namespaces/default/services/s',
  '/api/v1/namespaces/default/events',
  '/apis/events.k8s.io/v1/namespaces/default/events',
  '/api/v1/namespaces',
  '/api/v1/namespaces/default',
  '/api/v1/namespaces/default/finalize',
  '/api/v1/nodes',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/apps/v1/namespaces/default/deployments/d',
  '/apis/apps/v1/namespaces/default/deployments/d/scale',
  '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h',
  '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authentication.k8s.io/v1/tokenreviews',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/x',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/version',
  '/healthz',
  '/api',
  '/apis',
  '/metrics',
]

const oddSegments = [
  '..',
  '.',
  '%2e%2e',
  '%2F',
  '%00',
  '%zz',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  '\u{1f600}',
  '',
  ' ',
  'a b',
  '{',
  '*',
]
const oddNumbers = ['-1', '0', '1', '1.5', '1e3', '9'.repeat(30), 'x', '', 'NaN', '0x10', '\u0661']
const oddWords = [
  'All',
  'Strict',
  'Ignore',
  'true',
  'false',
  'Orphan',
  'Exact',
  'NotOlderThan',
  'a=b',
  'a in (b)',
  'a,,b',
  '(((',
  'metadata.name=a',
  '!'.repeat(500),
  '%',
  'e30',
  '',
]
const parameters = [
  'watch',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'dryRun',
  'fieldValidation',
  'fieldManager',
  'force',
  'propagationPolicy',
  'gracePeriodSeconds',
  'orphanDependents',
  'pretty',
  'includeObject',
  'timeout',
  'nothing',
  '__proto__',
]
const mediaTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/html',
  '',
  '*/*',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  `application/json${';a=b'.repeat(400)}`,
]

const bodies: readonly (() => unknown)[] = [
  () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }),
  () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { k: 'eA==' } }),
  () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1' } } }] },
  }),
  () => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { ports: [{ port: 80, targetPort: 'http' }], selector: { a: 'b' } },
  }),
  () => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }),
  () => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
    },
  }),
  () => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2 } }),
  () => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'e' },
    regarding: {},
    eventTime: '2020-01-01T00:00:00.000000Z',
    type: 'Normal',
  }),
  () => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }),
  () => ({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }),
  () => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `n${dice.below(50)}` } }),
  () => ({ data: { k: null, l: 'm' } }),
  () => [
    { op: 'add', path: '/data/k', value: 'x' },
    { op: 'test', path: '/metadata/name', value: 'a' },
  ],
  () => [{ op: 'move', from: '/metadata', path: '/data/x' }],
  () => ({ $patch: 'delete', metadata: { labels: { $patch: 'replace' } }, '$setElementOrder/finalizers': ['a'] }),
]

const oddValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  'x',
  'x'.repeat(5000),
  [],
  {},
  [[[[]]]],
  { __proto__: null },
  { constructor: { prototype: {} } },
  '1Gi',
  '2020-01-01T00:00:00Z',
  '\u0000',
  '\ud800',
  [null],
  { '': '' },
  Number.MAX_SAFE_INTEGER + 1,
]

/** Changes one random place of a JSON value. */
function mutate(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return dice.pick(oddValues)
  if (Array.isArray(value)) {
    if (value.length === 0 || dice.chance(20)) return [...value, dice.pick(oddValues)]
    const at = dice.below(value.length)
    return value.map((item, i) => (i === at ? mutate(item) : item))
  }
  const keys = Object.keys(value)
  const entries = Object.entries(value)
  if (keys.length === 0 || dice.chance(15)) {
    const key = dice.pick([
      'extra',
      '__proto__',
      'constructor',
      'metadata',
      'spec',
      'status',
      'finalizers',
      'labels',
      'ownerReferences',
      'managedFields',
      'resourceVersion',
      'x'.repeat(300),
    ])
    const made: Record<string, unknown> = Object.fromEntries(entries)
    Object.defineProperty(made, key, { value: dice.pick(oddValues), enumerable: true, configurable: true, writable: true })
    return made
  }
  if (dice.chance(10)) return Object.fromEntries(entries.filter(([key]) => key !== keys[0]))
  const chosen = dice.pick(keys)
  return Object.fromEntries(entries.map(([key, item]) => [key, key === chosen ? mutate(item) : item]))
}

function randomBody(): Uint8Array {
  if (dice.chance(5)) return seededRandom(dice.below(1e6)).bytes(dice.below(300))
  let value = dice.pick(bodies)()
  for (let i = dice.below(4); i > 0; i--) value = mutate(value)
  let text = JSON.stringify(value) ?? ''
  if (dice.chance(10)) text = text.slice(0, dice.below(text.length + 1))
  if (dice.chance(5)) text = text.replace('{', '{"kind":"X","kind":"Y",')
  if (dice.chance(2)) text = `${'['.repeat(20_000)}${text}`
  if (dice.chance(2))
    text = `a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n`
  const bytes = new TextEncoder().encode(text)
  if (dice.chance(5) && bytes.length > 0) bytes[dice.below(bytes.length)] = dice.below(256)
  return bytes
}

/** Requests that are right until they are mutated: they reach the depths that nonsense never sees. */
const plausible: readonly (readonly [method: string, path: string, type: string, body: number])[] = [
  ['POST', '/api/v1/namespaces/default/configmaps', 'application/json', 0],
  ['PUT', '/api/v1/namespaces/default/configmaps/a', 'application/json', 0],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/apply-patch+yaml', 0],
  ['POST', '/api/v1/namespaces/default/secrets', 'application/yaml', 1],
  ['POST', '/api/v1/namespaces/default/pods', 'application/json', 2],
  ['PUT', '/api/v1/namespaces/default/pods/p', 'application/json', 2],
  ['PATCH', '/api/v1/namespaces/default/pods/p', 'application/strategic-merge-patch+json', 2],
  ['POST', '/api/v1/namespaces/default/services', 'application/json', 3],
  ['POST', '/apis/apps/v1/namespaces/default/deployments', 'application/json', 4],
  ['PATCH', '/apis/apps/v1/namespaces/default/deployments/d', 'application/apply-patch+yaml', 4],
  ['PATCH', '/apis/apps/v1/namespaces/default/deployments/d', 'application/merge-patch+json', 4],
  ['POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', 'application/json', 5],
  ['PUT', '/apis/apps/v1/namespaces/default/deployments/d/scale', 'application/json', 6],
  ['POST', '/apis/events.k8s.io/v1/namespaces/default/events', 'application/json', 7],
  ['POST', '/api/v1/namespaces/default/pods/p/binding', 'application/json', 8],
  ['DELETE', '/api/v1/namespaces/default/pods/p', 'application/json', 9],
  ['DELETE', '/api/v1/namespaces/default/configmaps/a', 'application/json', 9],
  ['DELETE', '/api/v1/namespaces/default/configmaps', 'application/json', 9],
  ['POST', '/api/v1/namespaces', 'application/json', 10],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/merge-patch+json', 11],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/json-patch+json', 12],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/json-patch+json', 13],
  ['PATCH', '/api/v1/namespaces/default/configmaps/a', 'application/strategic-merge-patch+json', 14],
]

function plausibleRequest(): Draft {
  const [method, path, type, body] = dice.pick(plausible)
  let value = bodies[body]?.()
  for (let i = dice.below(3); i > 0; i--) value = mutate(value)
  const named = type === 'application/apply-patch+yaml' ? 'fieldManager=fuzz&force=true' : ''
  const headers = { 'content-type': type, 'user-agent': dice.pick(['kubectl/v1', 'helm/3', 'x']) }
  return {
    method,
    path,
    query: `${named}&timeoutSeconds=1`,
    headers,
    body: new TextEncoder().encode(JSON.stringify(value) ?? ''),
  }
}

function randomRequest(): Draft {
  if (dice.chance(50)) return plausibleRequest()
  let path = dice.pick(paths)
  if (dice.chance(15)) {
    const segments = path.split('/')
    segments[dice.below(segments.length)] = dice.pick(oddSegments)
    path = segments.join('/')
  }
  const query: string[] = []
  for (let i = dice.below(4); i > 0; i--)
    query.push(`${dice.pick(parameters)}=${encodeURIComponent(dice.pick(dice.chance(50) ? oddNumbers : oddWords))}`)
  // Bounded, so that no watch or wait of the run outlives it.
  query.push('timeoutSeconds=1')
  const headers: Record<string, string> = {}
  if (dice.chance(80)) headers['content-type'] = dice.pick(mediaTypes)
  if (dice.chance(60)) headers['accept'] = dice.pick(mediaTypes)
  if (dice.chance(10)) headers['user-agent'] = dice.pick(['kubectl/v1', '\u0001', 'x'.repeat(5000), 'curl/8'])
  if (dice.chance(5)) headers['impersonate-user'] = 'x'
  return {
    method: dice.pick(['GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'BREW']),
    path,
    query: query.join('&'),
    headers,
    body: randomBody(),
  }
}

/** Server errors that are right answers: versions of the future, and nodes that this server does not have. */
const rightServerErrors = new Set(['Timeout', 'ServiceUnavailable'])

describe('hostile requests', () => {
  let server: EmbeddedServer
  const faults: unknown[] = []
  beforeAll(async () => {
    server = await createApiServer({ storage: memoryStorage(), onFault: (error) => faults.push(error) })
  })
  afterAll(() => server.close())

  async function send(draft: Draft): Promise<{ status: number; text: string; type: string }> {
    const gone = new AbortController()
    const response = await server.handle({
      ...draft,
      body: async (limit) => {
        if (draft.body.byteLength > limit) throw new Error('the test sends no such body')
        return draft.body
      },
      peer: {},
      signal: gone.signal,
      user: { username: 'fuzz', groups: ['system:masters', 'system:authenticated'] },
    })
    const chunks: Uint8Array[] = []
    if (response.body.kind === 'bytes') chunks.push(response.body.bytes)
    else if (response.body.kind === 'list')
      for (const part of response.body.parts) chunks.push(part instanceof Uint8Array ? part : part.bytes())
    else if (response.body.kind === 'stream') {
      gone.abort()
      for await (const piece of response.body.stream) chunks.push(piece)
    }
    const type = response.headers['content-type']
    return { status: response.status, text: Buffer.concat(chunks).toString(), type: typeof type === 'string' ? type : '' }
  }

  it(`only ever get proper answers (${requests} requests, seed ${seed})`, { timeout: 240_000 }, async () => {
    const seen = new Map<number, number>()
    for (let i = 0; i < requests; i++) {
      const draft = randomRequest()
      // A version of the future is waited for: leave that to the tests of its own.
      if (/resourceVersion=9{30}/.test(draft.query)) continue
      const answer = await send(draft)
      const told = `request ${i}: ${draft.method} ${draft.path}?${draft.query} ${JSON.stringify(draft.headers)}\n${Buffer.from(draft.body).toString().slice(0, 600)}\n-> ${answer.status} ${answer.text.slice(0, 600)}`
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
      expect(faults, told).toEqual([])
      if (answer.status >= 400 && answer.type.startsWith('application/json')) {
        const status = JSON.parse(answer.text) as { kind: string; code: number; reason: string; message: string }
        expect(status, told).toMatchObject({ kind: 'Status', code: answer.status, status: 'Failure' })
        if (answer.status >= 500) expect(rightServerErrors, told).toContain(status.reason)
      } else if (answer.status >= 500) {
        expect.unreachable(told)
      }
    }
    // The run reached both sides: things were stored and things were refused.
    expect(seen.get(200) ?? 0).toBeGreaterThan(500)
    expect(seen.get(201) ?? 0).toBeGreaterThan(50)
    expect(seen.get(400) ?? 0).toBeGreaterThan(500)
    const alive = await send({ method: 'GET', path: '/readyz', query: '', headers: {}, body: new Uint8Array(0) })
    expect(alive).toMatchObject({ status: 200, text: 'ok' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})
