/**
 * Measures how the cost of requests grows with the number of stored objects, in one process without sockets, and prints processor
 * time as JSON. Costs are the best of several rounds.
 */
import { parseArgs } from 'node:util'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient, resourceType } from '@krmkit/client'
import { memoryStorage } from '@krmkit/storage'
import { callerOf } from './e2e/caller.ts'
import { decisionCost } from './micro/authorization.ts'
import { bytesOf, configMap, deployment } from './objects.ts'

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '1000' }, watchers: { type: 'string', default: '' } },
})
const objects = Number(values.objects)
const rounds = 3
const selected = 100

const server = await createApiServer({ storage: memoryStorage() })
const call = callerOf(server.handle)
const namespaced = (namespace: string, resource: string) => `/api/v1/namespaces/${namespace}/${resource}`
const post = (path: string, object: object) =>
  call({ method: 'POST', path, contentType: 'application/json', body: bytesOf(object) })
for (const name of ['grown', 'watched', 'applied'])
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

const before = used()
const path = namespaced('grown', 'configmaps')
const grown = (i: number) => {
  const object = configMap(`cm-${i}`, i)
  return { ...object, metadata: { ...object.metadata, labels: { part: `p${i % Math.max(1, Math.floor(objects / selected))}` } } }
}
for (let i = 0; i < objects; i++) await post(path, grown(i))
const memoryMiB = used() - before
let created = objects

const figures = {
  create: await cost(500, () => post(path, grown(created++))),
  get: await cost(2000, (i) => call({ method: 'GET', path: `${path}/cm-${(i * 7919) % objects}` })),
  list: await cost(20, () => call({ method: 'GET', path, query: 'limit=500' })),
  byLabel: await cost(50, () => call({ method: 'GET', path, query: 'labelSelector=part%3Dp3' })),
  apply: await cost(200, (i, round) =>
    call({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/applied/deployments/d-${round}-${i}`,
      query: 'fieldManager=bench',
      contentType: 'application/apply-patch+yaml',
      body: bytesOf(deployment(`d-${round}-${i}`, 1)),
    }),
  ),
  authorization: decisionCost(objects),
}
const watches = []
for (const watchers of values.watchers.split(',').filter(Boolean).map(Number))
  watches.push({ watchers, microseconds: await deliveryCost(watchers) })
await server.close()
process.stdout.write(`${JSON.stringify({ objects, memoryMiB, figures, watches })}\n`)

/** Microseconds for one call: at least so many calls, and 60 ms, in each round. */
async function cost(count: number, run: (i: number, round: number) => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const from = cpuMs()
    let calls = 0
    while (calls < count || cpuMs() - from < 60) await run(calls++, round)
    best = Math.min(best, ((cpuMs() - from) / calls) * 1000)
  }
  return best
}

/** Processor time of all threads. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Microseconds for one event at one watcher, with the creation that causes it. */
async function deliveryCost(watchers: number): Promise<number> {
  const client = createInProcessClient(server, {
    user: { username: 'bench', groups: ['system:masters', 'system:authenticated'] },
  })
  const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
  const { metadata } = await client.list(ConfigMap, { namespace: 'watched', limit: 1 })
  const stopping = new AbortController()
  const { signal } = stopping
  let seen = 0
  const reading = Array.from({ length: watchers }, async () => {
    const resourceVersion = metadata.resourceVersion ?? ''
    for await (const _ of client.watch(ConfigMap, { namespace: 'watched', resourceVersion, signal })) seen++
  })
  await post(namespaced('watched', 'configmaps'), configMap(`first-${watchers}`, 1))
  await until(() => seen === watchers)
  let made = 0
  const events = 12
  const microseconds = await cost(1, async () => {
    for (let i = 0; i < events; i++) {
      await post(namespaced('watched', 'configmaps'), configMap(`w-${watchers}-${made}`, made))
      made++
    }
    await until(() => seen === watchers * (made + 1))
  })
  stopping.abort()
  await Promise.allSettled(reading)
  await client.close()
  return microseconds / (events * watchers)
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate)
}

function used(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
