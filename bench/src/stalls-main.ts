/** Measures the longest stall that each request causes, in one process without sockets, and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { createAdmissionPlugins } from '@krmkit/admission'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import { memoryStorage } from '@krmkit/storage'
import { createFeatureGates } from '@krmkit/versioning'
import { callerOf } from './e2e/caller.ts'
import { bytesOf } from './objects.ts'
import { dataRows, reviewTransport as transport } from './stalls/data-rows.ts'
import { stallOf } from './stalls/probe.ts'
import { stallRows } from './stalls/rows.ts'

const { values } = parseArgs({ options: { scale: { type: 'string', default: '1' }, only: { type: 'string', default: '' } } })
const scale = Number(values.scale)
const scaled = (count: number) => Math.max(10, Math.round(count * scale))

const measuredPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy']
const storage = memoryStorage()
const server = await createApiServer({
  storage,
  features: createFeatureGates({ set: 'CBORServingAndStorage=true' }),
  conversion: { transport },
  admission: (parts) =>
    createAdmissionPlugins({ ...parts, webhooks: { transport } }).filter(({ name }) => measuredPlugins.includes(name)),
})
const user = { username: 'system:controllers', groups: ['system:masters', 'system:authenticated'] }
const controllers = runControllers({ client: createInProcessClient(server, { user }) })
const call = callerOf(server.handle)
const create = (path: string, object: object) =>
  call({ method: 'POST', path, contentType: 'application/json', body: bytesOf(object) })
await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'stalls' } })
await create('/api/v1/namespaces/stalls/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'beside' } })
await controllers.settled()

const sizes = {
  listed: scaled(100_000),
  deleted: scaled(20_000),
  definitions: scaled(500),
  revisions: scaled(100_000),
  deployments: scaled(5000),
}
const found = []
const rows = [...stallRows(sizes, storage, () => controllers.settled()), ...(await dataRows())]
for (const { name, prepare, run } of rows) {
  if (!name.includes(values.only)) continue
  await prepare?.(call)
  const stall = await stallOf(call, '/api/v1/namespaces/stalls/configmaps/beside', () => run(call))
  process.stderr.write(`${name}: ${stall.longestMs.toFixed(1)} ms, p99 ${stall.p99Ms.toFixed(1)} ms\n`)
  found.push({ name, ...stall })
}
await controllers.close()
await server.close()
process.stdout.write(`${JSON.stringify(found)}\n`)
