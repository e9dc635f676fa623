/** Benchmarks the cost of admission plugins and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { type AdmissionPlugin, createAdmissionChain, defaultAdmissionPlugins, ObjectSet } from '@krmkit/admission'
import { type ApiServerOptions, createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { bytesOf, configMap, pod } from './objects.ts'

const { values } = parseArgs({ options: { requests: { type: 'string', default: '2000' } } })
const requests = Number(values.requests)
const user = { username: 'bench', groups: ['system:masters', 'system:authenticated'] }
const rounds = 6

interface Row {
  readonly name: string
  readonly microseconds: number
  /** Difference from the run without plugins. */
  readonly added?: number
}

const seeds: Readonly<Record<string, readonly [path: string, object: object][]>> = {
  limitRange: [
    [
      'limitranges',
      {
        kind: 'LimitRange',
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'Container', default: { cpu: '200m' }, defaultRequest: { cpu: '100m' }, max: { cpu: '1' } }] },
      },
    ],
  ],
  quota: [['resourcequotas', { kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '1000000000' } } }]],
}

await main()

async function main(): Promise<void> {
  process.stdout.write(`${JSON.stringify({ chain: await chainRows(), server: await serverRows() })}\n`)
}

/** The chain alone, with objects in memory. */
async function chainRows(): Promise<Row[]> {
  const plugins = defaultAdmissionPlugins({ random: seededRandom(1) })
  const cluster = new ObjectSet()
  const put = (resource: string, object: object) => cluster.put({ group: '', resource }, object as ApiObject)
  put('namespaces', { metadata: { name: 'bench' }, status: { phase: 'Active' } })
  put('serviceaccounts', { metadata: { name: 'default', namespace: 'bench' } })
  const attributes = (resource: string, kind: string) => ({
    operation: 'CREATE' as const,
    kind: { group: '', version: 'v1', kind },
    resource: { group: '', version: 'v1', resource },
    subresource: '',
    name: 'a',
    namespace: 'bench',
    user,
    dryRun: false,
  })
  const context = { reader: cluster, warn: () => undefined }
  const run = (chosen: readonly AdmissionPlugin[], object: ApiObject, resource: string) => {
    const chain = createAdmissionChain(chosen)
    const about = attributes(resource, object.kind)
    return async () => {
      const admitted = await chain.admit(object, about, context)
      await chain.validate(admitted, about, context)
    }
  }
  const map = configMap('a', 1) as ApiObject
  const bare = pod('a') as ApiObject
  return [
    { name: 'ConfigMap, no plugins', microseconds: await best(run([], map, 'configmaps')) },
    { name: 'ConfigMap, all default plugins', microseconds: await best(run(plugins, map, 'configmaps')) },
    { name: 'Pod, all default plugins', microseconds: await best(run(plugins, bare, 'pods')) },
  ]
}

async function best(run: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const from = performance.now()
    for (let i = 0; i < requests; i++) await run()
    least = Math.min(least, ((performance.now() - from) / requests) * 1000)
  }
  return least
}

interface Setting {
  readonly name: string
  readonly admission: NonNullable<ApiServerOptions['admission']>
  readonly objects: readonly [path: string, object: object][]
  readonly at: 'pods' | 'configmaps'
  /** The object already has what plugins would add. */
  readonly whole?: boolean
  /** Number of concurrent requests. */
  readonly together?: number
}

/** The server without sockets: alternating creations with and without plugins. */
async function serverRows(): Promise<Row[]> {
  const all = defaultAdmissionPlugins
  const settings: Setting[] = [
    { name: 'create a ConfigMap: no plugins', admission: [], objects: [], at: 'configmaps' },
    { name: 'create a ConfigMap: all default plugins', admission: all, objects: [], at: 'configmaps' },
    { name: 'create a Pod: no plugins', admission: [], objects: [], at: 'pods' },
    { name: 'create a Pod that says all itself: no plugins', admission: [], objects: [], at: 'pods', whole: true },
    { name: 'create a Pod: all default plugins', admission: all, objects: [], at: 'pods' },
    { name: 'create a Pod: and a limit range', admission: all, objects: seeds['limitRange'] ?? [], at: 'pods' },
    { name: 'create a Pod: and a quota', admission: all, objects: seeds['quota'] ?? [], at: 'pods' },
    {
      name: 'create a Pod: and a quota, 64 at a time',
      admission: all,
      objects: seeds['quota'] ?? [],
      at: 'pods',
      together: 64,
    },
  ]
  const servers = await Promise.all(settings.map((setting) => serverOf(setting)))
  const least = settings.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++) {
    for (const [i, setting] of settings.entries()) {
      const server = servers[i] as EmbeddedServer
      const from = performance.now()
      await createMany(server, setting, round)
      least[i] = Math.min(least[i] ?? 0, ((performance.now() - from) / requests) * 1000)
    }
  }
  await Promise.all(servers.map((server) => server.close()))
  const bare = { configmaps: least[0] ?? 0, pods: least[2] ?? 0 }
  return settings.map(({ name, at }, i) => ({ name, microseconds: least[i] ?? 0, added: (least[i] ?? 0) - bare[at] }))
}

async function serverOf({ admission, objects }: Setting): Promise<EmbeddedServer> {
  const server = await createApiServer({ storage: memoryStorage(), admission })
  await post(server, '/api/v1/namespaces', { metadata: { name: 'bench' } })
  await post(server, '/api/v1/namespaces/bench/serviceaccounts', { metadata: { name: 'default' } })
  for (const [path, object] of objects) await post(server, `/api/v1/namespaces/bench/${path}`, object)
  const counted = objects.some(([path]) => path === 'resourcequotas')
  if (counted) {
    const status = { hard: { pods: '1000000000' }, used: { pods: '0' } }
    await post(server, '/api/v1/namespaces/bench/resourcequotas/q/status', { status }, 'PATCH')
  }
  return server
}

async function createMany(server: EmbeddedServer, { at, whole = false, together = 1 }: Setting, round: number): Promise<void> {
  let next = 0
  const work = async () => {
    for (let n = next++; n < requests; n = next++) {
      const object = at === 'configmaps' ? configMap(`c-${round}-${n}`, n) : (whole ? wholePod : pod)(`p-${round}-${n}`)
      await post(server, `/api/v1/namespaces/bench/${at}`, object)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
}

/** A pod that the default plugins leave unchanged. */
function wholePod(name: string): object {
  const { spec, ...rest } = pod(name)
  const mount = { name: 'kube-api-access-abcde', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3600, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [namespace] } },
  ]
  const tolerations = ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }))
  return {
    ...rest,
    spec: {
      ...spec,
      containers: spec.containers.map((container) => ({ ...container, volumeMounts: [mount] })),
      volumes: [{ name: mount.name, projected: { sources, defaultMode: 420 } }],
      serviceAccountName: 'default',
      tolerations,
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  }
}

async function post(server: EmbeddedServer, path: string, object: object, method = 'POST'): Promise<void> {
  const body = bytesOf(object)
  const { status } = await server.handle({
    method,
    path,
    query: '',
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    body: async () => body,
    peer: {},
    signal: new AbortController().signal,
    user,
  })
  if (status >= 400) throw new Error(`${method} ${path}: HTTP ${status}`)
}
