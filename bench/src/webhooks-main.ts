/** Benchmarks the cost of webhooks in a request and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { createAdmissionPlugins } from '@krmkit/admission'
import type { InProcessWebhook } from '@krmkit/admission/webhooks'
import { createApiServer } from '@krmkit/apiserver'
import { type AuditTrail, fixedAuditPolicy } from '@krmkit/apiserver/audit'
import type { Handler } from '@krmkit/protocol'
import { memoryStorage } from '@krmkit/storage'
import { bytesOf, configMap } from './objects.ts'

const { values } = parseArgs({ options: { time: { type: 'string', default: '400' } } })
const milliseconds = Number(values.time)
const user = { username: 'root', groups: ['system:masters', 'system:authenticated'] }
const signal = new AbortController().signal
const group = 'admissionregistration.k8s.io'
const target = '/api/v1/namespaces/ns-0/configmaps'

interface Case {
  readonly name: string
  readonly plugins: boolean
  /** Number of webhooks of each type, one per configuration. */
  readonly hooks?: readonly object[]
  readonly audit?: AuditTrail
}

const allow: InProcessWebhook = () => ({ allowed: true })
const label: InProcessWebhook = () => ({
  allowed: true,
  patch: [{ op: 'add', path: '/metadata/labels', value: { hook: 'yes' } }],
})
const inProcess = { 'https://hooks.test/allow': allow, 'https://hooks.test/label': label }

const rules = (resource: string) => [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] }]
const hook = (path: string, rest: object) => ({
  clientConfig: { url: `https://hooks.test/${path}` },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...rest,
})
const ten = (rest: object) => Array.from({ length: 10 }, () => hook('allow', rest))
const silent: AuditTrail = { policy: fixedAuditPolicy('Metadata'), backend: { process: () => undefined } }

const cases: readonly Case[] = [
  { name: 'no admission plugins', plugins: false },
  { name: 'webhook plugins, nothing configured', plugins: true },
  { name: '10 + 10 configurations, other resources', plugins: true, hooks: ten({ rules: rules('secrets') }) },
  {
    name: '10 + 10 configurations, other labels of the object',
    plugins: true,
    hooks: ten({ rules: rules('configmaps'), objectSelector: { matchLabels: { team: 'other' } } }),
  },
  {
    name: '10 + 10 configurations, other labels of the namespace',
    plugins: true,
    hooks: ten({ rules: rules('configmaps'), namespaceSelector: { matchLabels: { team: 'other' } } }),
  },
  { name: '1 + 1 webhooks in this process that allow', plugins: true, hooks: [hook('allow', { rules: rules('configmaps') })] },
  {
    name: '1 mutating webhook in this process that patches',
    plugins: true,
    hooks: [hook('label', { rules: rules('configmaps') })],
  },
  { name: 'no plugins, an audit trail at Metadata', plugins: false, audit: silent },
]

await main()

async function main(): Promise<void> {
  const servers: { name: string; handle: Handler; best: number }[] = []
  for (const each of cases) servers.push({ name: each.name, handle: await serverOf(each), best: Number.POSITIVE_INFINITY })
  const body = bytesOf(configMap('a', 1))
  // Alternating, so that all see the same noise.
  for (let round = 0; round < 8; round++) {
    for (const server of servers) {
      const from = performance.now()
      const before = process.cpuUsage()
      let runs = 0
      while (performance.now() - from < milliseconds) {
        for (let n = 0; n < 50; n++) await sendRequest(server.handle, 'POST', target, { body, query: 'dryRun=All' })
        runs += 50
      }
      // CPU time, since other processes share the machine.
      const { user: own, system } = process.cpuUsage(before)
      if (round > 0) server.best = Math.min(server.best, (own + system) / runs)
    }
  }
  process.stdout.write(`${JSON.stringify(servers.map(({ name, best }) => ({ name, microseconds: best })))}\n`)
}

async function serverOf({ plugins, hooks = [], audit }: Case): Promise<Handler> {
  const chosen = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook']
  const { handle } = await createApiServer({
    storage: memoryStorage(),
    ...(audit === undefined ? {} : { audit }),
    ...(plugins
      ? {
          admission: (parts) =>
            createAdmissionPlugins({ ...parts, webhooks: { inProcess } }).filter(({ name }) => chosen.includes(name)),
        }
      : {}),
  })
  const namespace = bytesOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns-0' } })
  await sendRequest(handle, 'POST', '/api/v1/namespaces', { body: namespace })
  for (const [i, each] of hooks.entries()) {
    const patches = JSON.stringify(each).includes('/label')
    for (const kind of patches ? ['Mutating'] : ['Mutating', 'Validating']) {
      const resource = `${kind.toLowerCase()}webhookconfigurations`
      const webhooks = [{ name: `hook-${i}.example.com`, ...each }]
      const configuration = {
        apiVersion: `${group}/v1`,
        kind: `${kind}WebhookConfiguration`,
        metadata: { name: `c-${i}` },
        webhooks,
      }
      await sendRequest(handle, 'POST', `/apis/${group}/v1/${resource}`, { body: bytesOf(configuration) })
    }
  }
  return handle
}

async function sendRequest(
  handle: Handler,
  method: string,
  path: string,
  { body, query = '' }: { readonly body: Uint8Array; readonly query?: string },
): Promise<void> {
  const { status, body: answer } = await handle({
    method,
    path,
    query,
    headers: { 'content-type': 'application/json', 'user-agent': 'bench/1' },
    body: async () => body,
    peer: {},
    signal,
    user,
  })
  if (status >= 300)
    throw new Error(`${method} ${path}: HTTP ${status} ${answer.kind === 'bytes' ? Buffer.from(answer.bytes) : ''}`)
}
