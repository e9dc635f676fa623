/** Random writes of several kinds by two servers. */
import type { ApiEndpoint, Reply } from '../../packages/conformance/src/api-endpoint.ts'

const namespace = 'mixed'

interface Kind {
  readonly path: string
  readonly create: (name: string, n: number) => object
  /** Changes an object that was read, for a PUT. */
  readonly change: (object: Record<string, unknown>, n: number) => void
  /** A merge patch. */
  readonly patch: (n: number) => object
}

const meta = (name: string, n: number) => ({
  name,
  namespace,
  labels: { n: String(n % 5) },
  annotations: { 'example.com/text': `é<&>\u2028 ${n}` },
})
const template = (n: number) => ({
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      {
        name: 'c',
        image: `nginx:${n}`,
        env: [{ name: 'N', value: String(n) }],
        resources: { limits: { cpu: '100m', memory: '1Gi' } },
      },
    ],
  },
})

export const kinds: readonly Kind[] = [
  {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    create: (name, n) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: meta(name, n),
      data: { n: String(n), z: 'z', a: '' },
      binaryData: { b: 'AAEC' },
    }),
    change: (object, n) => Object.assign(object, { data: { n: String(n) } }),
    patch: (n) => ({ data: { n: String(n), z: null } }),
  },
  {
    path: `/api/v1/namespaces/${namespace}/secrets`,
    create: (name, n) => ({ apiVersion: 'v1', kind: 'Secret', metadata: meta(name, n), stringData: { n: String(n) } }),
    change: (object, n) => Object.assign(object, { data: { n: Buffer.from(String(n)).toString('base64') } }),
    patch: (n) => ({ stringData: { p: String(n) } }),
  },
  {
    path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    create: (name, n) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: meta(name, n),
      spec: { replicas: n % 4, selector: { matchLabels: { app: 'web' } }, template: template(n) },
    }),
    change: (object, n) => Object.assign(object.spec as object, { replicas: n % 7 }),
    patch: (n) => ({ spec: { minReadySeconds: n % 9 } }),
  },
  {
    path: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
    create: (name, n) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: meta(name, n),
      rules: n % 3 === 0 ? [] : [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    change: (object, n) => Object.assign(object, { rules: [{ apiGroups: [''], resources: [`r${n % 3}`], verbs: ['list'] }] }),
    patch: (n) => ({ metadata: { labels: { p: String(n) } } }),
  },
  {
    path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    create: (name, n) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: meta(name, n),
      spec: { holderIdentity: `h${n}`, leaseDurationSeconds: 15, renewTime: '2024-01-01T00:00:00.123456Z' },
    }),
    change: (object, n) => Object.assign(object.spec as object, { holderIdentity: `c${n}` }),
    patch: (n) => ({ spec: { leaseTransitions: n } }),
  },
  {
    path: `/api/v1/namespaces/${namespace}/events`,
    create: (name, n) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: meta(name, n),
      involvedObject: { kind: 'Pod', namespace, name: 'p' },
      reason: 'Mixed',
      message: `event ${n}`,
      type: 'Normal',
      firstTimestamp: '2024-01-01T00:00:00Z',
      count: n,
    }),
    change: (object, n) => Object.assign(object, { count: n }),
    patch: (n) => ({ message: `patched ${n}` }),
  },
  {
    path: `/api/v1/namespaces/${namespace}/endpoints`,
    create: (name, n) => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: meta(name, n),
      subsets: [{ addresses: [{ ip: `10.1.0.${(n % 250) + 1}` }], ports: [{ port: 80, name: 'http' }] }],
    }),
    change: (object, n) => Object.assign(object, { subsets: [{ addresses: [{ ip: `10.2.0.${(n % 250) + 1}` }] }] }),
    patch: (n) => ({ metadata: { annotations: { p: String(n) } } }),
  },
  {
    path: `/apis/batch/v1/namespaces/${namespace}/cronjobs`,
    create: (name, n) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: meta(name, n),
      spec: {
        schedule: '0 0 * * *',
        suspend: true,
        jobTemplate: { spec: { template: { ...template(n), spec: { ...template(n).spec, restartPolicy: 'Never' } } } },
      },
    }),
    change: (object, n) => Object.assign(object.spec as object, { schedule: `${n % 60} * * * *` }),
    patch: (n) => ({ spec: { startingDeadlineSeconds: n + 1 } }),
  },
  {
    path: `/apis/mixed.example.com/v1/namespaces/${namespace}/widgets`,
    create: (name, n) => ({
      apiVersion: 'mixed.example.com/v1',
      kind: 'Widget',
      metadata: meta(name, n),
      spec: {
        size: n,
        big: 9007199254740993n.toString(),
        ratio: 0.1 + n,
        text: '<a&b>\u2028é',
        nested: { b: 1, a: [1, 'x', null] },
      },
    }),
    change: (object, n) => Object.assign(object.spec as object, { size: n }),
    patch: (n) => ({ spec: { nested: { c: n } } }),
  },
]

/** Creates the namespace and the custom resource definition, and waits until both servers serve it. */
export async function prepare(servers: readonly ApiEndpoint[]): Promise<void> {
  const [first] = servers
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.mixed.example.com' },
    spec: {
      group: 'mixed.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  'x-kubernetes-preserve-unknown-fields': true,
                  properties: { size: { type: 'integer' }, color: { type: 'string', default: 'red' } },
                },
              },
            },
          },
        },
      ],
    },
  }
  await first?.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await first?.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  for (const server of servers) {
    for (let attempt = 0; attempt < 100; attempt++) {
      const { status } = await server.send('GET', `/apis/mixed.example.com/v1/namespaces/${namespace}/widgets`)
      if (status === 200) break
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

export interface MixedWrites {
  /** Successful writes by server. */
  readonly written: Map<string, number>
  /** Responses that no reader expects, as text. */
  readonly strange: string[]
}

const concurrency = 8
const namesPerKind = 12

/**
 * Writes until so many writes have succeeded: creations, PUTs of what the same server reads, merge patches, deletions. Each name belongs
 * to one writer, so that no write conflicts; which server takes it is random.
 */
export async function writeMixed(
  servers: readonly ApiEndpoint[],
  { writes, below }: { readonly writes: number; readonly below: (limit: number) => number },
): Promise<MixedWrites> {
  const written = new Map<string, number>()
  const strange: string[] = []
  let done = 0
  let n = 0
  const accept = (server: ApiEndpoint, what: string, reply: Reply, expected: readonly number[]) => {
    if (!expected.includes(reply.status)) strange.push(`${server.name} ${what}: ${reply.status} ${reply.text.slice(0, 300)}`)
    if (reply.status >= 300) return
    done++
    written.set(server.name, (written.get(server.name) ?? 0) + 1)
  }
  const worker = async (hand: number) => {
    const exists = new Set<string>()
    while (done < writes && strange.length < 20) {
      const kind = kinds[below(kinds.length)]!
      const server = servers[below(servers.length)]!
      const name = `w${hand}-${below(namesPerKind)}`
      const path = `${kind.path}/${name}`
      const at = ++n
      if (!exists.has(path)) {
        accept(server, `POST ${path}`, await server.send('POST', kind.path, kind.create(name, at)), [201])
        exists.add(path)
        continue
      }
      const roll = below(10)
      if (roll < 2) {
        accept(server, `DELETE ${path}`, await server.send('DELETE', path), [200])
        exists.delete(path)
      } else if (roll < 6) {
        const read = await server.send('GET', path)
        if (read.status !== 200) {
          strange.push(`${server.name} GET ${path}: ${read.status}`)
          continue
        }
        const object = JSON.parse(read.text)
        kind.change(object, at)
        accept(server, `PUT ${path}`, await server.send('PUT', path, object), [200])
      } else {
        const patch = await server.send('PATCH', path, kind.patch(at), 'application/merge-patch+json')
        accept(server, `PATCH ${path}`, patch, [200])
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, hand) => worker(hand)))
  return { written, strange }
}
