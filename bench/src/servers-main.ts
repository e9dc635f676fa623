/**
 * Runs tests against many servers at once, and prints the figures as JSON:
 *
 *     inside   servers of this process, made by `createTestServer` or `fork`
 *     remote   servers of other processes, at the given addresses
 */
import { parseArgs } from 'node:util'
import { type Client, createRemoteClient } from '@krmkit/client'
import { Deployment } from '@krmkit/kinds/apps/v1'
import { ConfigMap, Namespace } from '@krmkit/kinds/core/v1'
import { createTestServer, type TestServer } from '@krmkit/testing'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    servers: { type: 'string', default: '100' },
    tests: { type: 'string', default: '5' },
    kind: { type: 'string', default: 'new' },
    token: { type: 'string', default: '' },
  },
})
const tests = Number(values.tests)

const containers = [{ name: 'web', image: 'web:1' }]
const deployment = (name: string, namespace: string) => ({
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
  },
})

/** One test: seven requests in a new namespace. */
async function runTest(client: Client, namespace: string): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace } })
  await client.create(ConfigMap, { metadata: { name: 'settings', namespace }, data: { color: 'red' } })
  const deployed = deployment('web', namespace)
  await client.create(Deployment, deployed)
  const { metadata, spec } = await client.get(Deployment, 'web', { namespace })
  await client.update(Deployment, { metadata, spec: { ...deployed.spec, ...spec, replicas: 3 } })
  const { items } = await client.list(Deployment, { namespace })
  if (items.length !== 1 || items[0]?.spec?.replicas !== 3) throw new Error('a test found other objects')
  await client.delete(Deployment, 'web', { namespace })
}

async function runTests(clients: readonly Client[]): Promise<number> {
  let count = 0
  await Promise.all(
    clients.map(async (client) => {
      for (let i = 0; i < tests; i++) {
        await runTest(client, `test-${i}`)
        count++
      }
    }),
  )
  return count
}

interface Span {
  readonly elapsedMs: number
  /** Processor time of all threads of this process. */
  readonly cpuMs: number
}

async function timed(run: () => Promise<unknown>): Promise<Span> {
  const from = performance.now()
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return { elapsedMs: performance.now() - from, cpuMs: (user + system) / 1000 }
}

const residentMiB = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss / 2 ** 20
}

/** The objects of a template: twenty in each of two namespaces. */
const seed = ['shop', 'bank'].flatMap((namespace) => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  ...Array.from({ length: 20 }, (_, i) => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...deployment(`web-${i}`, namespace) })),
])

/** Functions that start a server; a server is started when it has answered a request. */
async function starters(): Promise<() => Promise<TestServer>> {
  if (values.kind === 'alone') return () => createTestServer({ controllers: [] })
  if (values.kind === 'new') return () => createTestServer()
  const template = await createTestServer({ seed })
  await runTest(template.fork().client, 'first')
  return async () => template.fork()
}

async function inside(): Promise<object> {
  const emptyMiB = residentMiB()
  let template: (() => Promise<TestServer>) | undefined
  const servers: TestServer[] = []
  const start = async () => {
    const server = await template!()
    await server.client.get(Namespace, 'default')
    return server
  }
  const first = await timed(async () => {
    template = await starters()
    servers.push(await start())
  })
  const firstMiB = residentMiB()
  const count = Number(values.servers)
  const starting = await timed(async () => {
    const more = Array.from({ length: count - 1 }, start)
    servers.push(...(await Promise.all(more)))
  })
  const startedMiB = residentMiB()
  let ran = 0
  const testing = await timed(async () => {
    ran = await runTests(servers.map(({ client }) => client))
  })
  const testedMiB = residentMiB()
  const isolated = await timed(async () => {
    // As many tests, a tenth of the servers at a time, each on a new one.
    const runs = Array.from({ length: Math.max(1, Math.round(count / 10)) }, async () => {
      for (let i = 0; i < tests * 10; i++) {
        await using server = await template!()
        await runTest(server.client, 'test')
      }
    })
    await Promise.all(runs)
  })
  for (const server of servers) await server.close()
  return { count, emptyMiB, first, firstMiB, starting, startedMiB, ran, testing, testedMiB, isolated }
}

async function remote(): Promise<object> {
  const clients = positionals.map((server) => createRemoteClient({ server, token: values.token, insecureSkipTlsVerify: true }))
  let ran = 0
  const testing = await timed(async () => {
    ran = await runTests(clients)
  })
  for (const client of clients) await client.close()
  return { ran, testing }
}

process.stdout.write(`${JSON.stringify(positionals.length > 0 ? await remote() : await inside())}\n`)
