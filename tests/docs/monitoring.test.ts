import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { createInstrumentedAuthorizer } from '@krmkit/authorization'
import { createInProcessClient, resourceType } from '@krmkit/client'
import type { UserInfo } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { lmdbStorage } from '@krmkit/storage'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { root } from '../source-files.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The dashboard and the alerts name metrics and labels that a server has. */

const read = (name: string) => readFileSync(join(root, 'docs/operate/monitoring', name), 'utf8')

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] }
}
const rules = (
  parseYaml(read('prometheus-rules.yaml')).value as {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly alert: string
        readonly expr: string
        readonly annotations: { readonly summary: string }
      }[]
    }[]
  }
).groups.flatMap(({ rules: all }) => all)

const queries: readonly (readonly [string, string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => [title, expr, legendFormat] as const),
  ),
  ...rules.map(({ alert, expr, annotations }) => [alert, expr, annotations.summary] as const),
]

/** Labels that Prometheus adds, and the metric that it makes for each target. */
const targetLabels = ['job', 'instance']
const targetMetric = 'up'
const functions = /^(?:sum|max|rate|increase|topk|absent|histogram_quantile|by|le)$/

/** The metrics of a query with the labels of their selectors, and the labels that it groups or shows. */
function partsOf(query: string, text: string) {
  const metrics: { readonly name: string; readonly labels: readonly string[] }[] = []
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  const rest = query.replace(/\bby \([^)]*\)/g, ' ').replace(/\[[^\]]*\]/g, '')
  for (const [, name = '', selector = ''] of rest.matchAll(/\b([a-z_]{2,})\b(?:\{([^}]*)\})?(?=[^"]*(?:"[^"]*"[^"]*)*$)/g)) {
    if (functions.test(name)) continue
    metrics.push({ name, labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label) })
  }
  const shown = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label)
  return { metrics, grouped, shown }
}

/** Labels of metrics that have no series until queues are full, which flow-control/queue.test.ts and others arrange. */
const withoutSeries: Readonly<Record<string, readonly string[]>> = {
  apiserver_flowcontrol_rejected_requests_total: ['flow_schema', 'priority_level', 'reason'],
}

/** Names of series -> their labels, from the metrics of a server after requests of all kinds. */
let series: ReadonlyMap<string, ReadonlySet<string>>
const folder = temporaryFolder()

beforeAll(async () => {
  const url = 'https://hook.example.com/'
  await using server = await createApiServer({
    storage: await lmdbStorage({ dir: join(folder, 'data') }),
    flowControl: true,
    bootstrapRoles: true,
    authorizer: async ({ rbac, metrics }) => createInstrumentedAuthorizer(await rbac(), { type: 'RBAC', name: 'rbac', metrics }),
    aggregation: {},
    admission: (environment) =>
      defaultAdmissionPlugins({ ...environment, webhooks: { inProcess: { [url]: () => ({ allowed: false }) } } }),
  })
  await exercise(server, url)
  // Changes of flow control and the availability of an APIService take effect beside requests.
  await vi.waitFor(async () => {
    await createInProcessClient(server, { user: jane }).request({ path: '/version' })
    series = await seriesOf(server)
    expect([...series.keys()]).toEqual(
      expect.arrayContaining(['aggregator_unavailable_apiservice', 'apiserver_flowcontrol_request_wait_duration_seconds_bucket']),
    )
  }, 20_000)
})

const administrator: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

type TypeOf = (group: string, version: string, resource: string, kind: string) => ReturnType<typeof resourceType>

const jane: UserInfo = { username: 'jane', groups: ['system:authenticated'] }

async function exercise(server: EmbeddedServer, url: string): Promise<void> {
  const client = createInProcessClient(server, { user: administrator })
  const type: TypeOf = (group, version, resource, kind) =>
    resourceType({ group, version, resource, kind, namespaced: group === '' })
  const configMaps = type('', 'v1', 'configmaps', 'ConfigMap')
  await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } })
  await client.list(configMaps)
  await (await client.request({ path: '/api/v1/configmaps?watch=true&timeoutSeconds=1' })).text()
  await queueRequestsOf(jane.username, client, type)
  await client.list(type('', 'v1', 'endpoints', 'Endpoints'))
  const webhook = (name: string, host: string, failurePolicy: string) => ({
    ...{ name, failurePolicy, sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: host } },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
  })
  await client.create(
    type('admissionregistration.k8s.io', 'v1', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration'),
    {
      metadata: { name: 'hooks' },
      webhooks: [webhook('refuses.example.com', url, 'Fail'), webhook('gone.example.com', 'https://gone.example.com/', 'Ignore')],
    },
  )
  const secret = { metadata: { name: 'a', namespace: 'default' } }
  await expect(client.create(type('', 'v1', 'secrets', 'Secret'), secret)).rejects.toThrow('denied the request')
  await client.create(type('apiregistration.k8s.io', 'v1', 'apiservices', 'APIService'), {
    metadata: { name: 'v1.shop.example.com' },
    spec: {
      ...{ group: 'shop.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10 },
      service: { namespace: 'default', name: 'shop' },
    },
  })
}

async function queueRequestsOf(name: string, client: ReturnType<typeof createInProcessClient>, type: TypeOf): Promise<void> {
  const group = 'flowcontrol.apiserver.k8s.io'
  await client.create(type(group, 'v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration'), {
    metadata: { name: 'queued' },
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } },
  })
  await client.create(type(group, 'v1', 'flowschemas', 'FlowSchema'), {
    metadata: { name: 'queued' },
    spec: {
      ...{ matchingPrecedence: 2, priorityLevelConfiguration: { name: 'queued' } },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name } }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      ],
    },
  })
}

async function seriesOf(server: EmbeddedServer): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const text = await (await createInProcessClient(server, { user: administrator }).request({ path: '/metrics' })).text()
  const found = new Map<string, Set<string>>([[targetMetric, new Set()]])
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const names = found.get(name) ?? new Set(targetLabels)
    found.set(name, names)
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) names.add(label)
  }
  for (const [name, labels] of Object.entries(withoutSeries)) {
    expect(text).toContain(`# TYPE ${name} `)
    found.set(name, new Set([...targetLabels, ...labels]))
  }
  return found.set(targetMetric, new Set(targetLabels))
}

describe.each(queries)('%s', (_, query, text) => {
  it(`uses metrics and labels that exist: ${query.trim()}`, () => {
    const { metrics, grouped, shown } = partsOf(query, text)
    expect(metrics.length).toBeGreaterThan(0)
    for (const { name, labels } of metrics) {
      const known = [...(series.get(name) ?? [`there is no ${name}`])]
      expect(known).toEqual(expect.arrayContaining([...labels, ...grouped]))
    }
    const available = grouped.length > 0 ? grouped : targetLabels
    expect(available).toEqual(expect.arrayContaining(shown))
  })
})

describe('the dashboard', () => {
  it('has panels with different ids that do not overlap', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  it('chooses the job among the values of a metric that exists', () => {
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(dashboard.templating.list[1]?.query ?? '') ?? []
    expect([...(series.get(metric) ?? [])]).toContain(label)
  })
})
