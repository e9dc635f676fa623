/** krmkit while its etcd is away, full or slow. Needs the program that `KRMKIT_ETCD` names. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalog } from '@krmkit/kinds'
import { createStoredForm } from '@krmkit/registry/stored-form'
import { etcdStorage } from '@krmkit/storage/etcd'
import { expect, it } from 'vitest'
import { type RunningServer, serve } from '../../packages/cli/src/serve.ts'
import { serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { ApiEndpoint, type Reply } from '../../packages/conformance/src/api-endpoint.ts'
import { EtcdProcess, etcdProgram, withoutEtcd } from '../../packages/storage/src/etcd/testing/etcd-process.ts'
import { slowDisk, withoutSlowDisks } from '../../packages/storage/src/etcd/testing/slow-disk.ts'
import { writeTokens } from './stock-server.ts'

const program = etcdProgram()
const missing = program === undefined ? ` (${withoutEtcd})` : ''
const noSlowDisks = withoutSlowDisks()
const configMaps = '/api/v1/namespaces/default/configmaps'
const events = '/api/v1/namespaces/default/events'
const configMap = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const event = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { namespace: 'default' },
})
const kilobyte = 1024

interface Setting {
  readonly etcd: EtcdProcess
  readonly server: ApiEndpoint
  readonly running: RunningServer
  /** Lines of the log of the server. */
  readonly logged: readonly string[]
}

interface Flags {
  readonly etcd?: readonly string[]
  readonly server?: readonly string[]
}

async function withServer(flags: Flags, run: (setting: Setting) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'krmkit-outage-'))
  const etcd = await EtcdProcess.start(program!, flags.etcd)
  const own = ['--storage=etcd', `--etcd-servers=${etcd.url}`, `--token-auth-file=${writeTokens(folder, 'token')}`]
  const logged: string[] = []
  const log = { info: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
  const running = await serve(await serveOptions(join(folder, 'data'), [...own, ...(flags.server ?? [])]), log)
  const server = new ApiEndpoint('krmkit', Number(new URL(running.url).port), 'token')
  try {
    await run({ etcd, server, running, logged })
  } finally {
    server.close()
    await running.close()
    await etcd.dispose()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The status and the header Retry-After of a response, which names it in its body as well. */
function refusal({ status, text }: Reply): unknown[] {
  return [status, JSON.parse(text).details?.retryAfterSeconds]
}

async function namesOf(server: ApiEndpoint, query = ''): Promise<string[]> {
  const { text } = await server.send('GET', `${configMaps}${query}`)
  return (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
}

it.skipIf(program === undefined)(
  `answers 503 with Retry-After and is not ready while etcd is away, keeps watches, and goes on afterwards${missing}`,
  () =>
    withServer({}, async ({ etcd, server }) => {
      expect((await server.send('POST', configMaps, configMap('before'))).status).toBe(201)
      const watch = server.watch(`${configMaps}?resourceVersion=0`)
      expect((await server.send('GET', '/readyz')).status).toBe(200)
      await etcd.kill()
      expect((await server.send('GET', '/readyz')).text).toContain('[-]etcd failed')
      expect((await server.send('GET', '/livez/etcd')).status).toBe(500)
      const replies = await Promise.all([
        server.send('POST', configMaps, configMap('during')),
        server.send('GET', configMaps),
        server.send('GET', `${configMaps}/before`),
        server.send('DELETE', `${configMaps}/before`),
      ])
      expect(replies.map(refusal)).toEqual(replies.map(() => [503, 1]))
      expect((await server.send('GET', `${configMaps}?resourceVersion=0`)).status).toBe(200)
      await etcd.start()
      await expect.poll(async () => (await server.send('GET', configMaps)).status, { timeout: 20_000 }).toBe(200)
      expect((await server.send('GET', '/readyz')).status).toBe(200)
      expect((await server.send('POST', configMaps, configMap('after'))).status).toBe(201)
      const names = () => watch.lines.map((line) => `${JSON.parse(line).type} ${JSON.parse(line).object.metadata.name}`)
      await expect.poll(names).toContain('ADDED after')
      expect(names().filter((each) => each.endsWith('before'))).toEqual(['ADDED before'])
      expect(names()).not.toContain('ADDED during')
      watch.close()
    }),
  90_000,
)

it.skipIf(program === undefined)(
  `answers writes by 503 with Retry-After while the quota of etcd is exhausted, and goes on when the alarm is disarmed${missing}`,
  () =>
    withServer(
      { etcd: ['--quota-backend-bytes', String(8 * 1024 * kilobyte)], server: ['--etcd-db-metric-poll-interval=200ms'] },
      async ({ etcd, server, logged }) => {
        const written: string[] = ['kube-root-ca.crt']
        const big = { payload: 'x'.repeat(400 * kilobyte) }
        const watch = server.watch(`${configMaps}?resourceVersion=0`)
        expect((await server.send('POST', events, event('before'))).status).toBe(201)
        let reply = await server.send('POST', configMaps, configMap('big-0', big))
        for (let n = 1; reply.status === 201 && n < 40; n++) {
          written.push(`big-${n - 1}`)
          reply = await server.send('POST', configMaps, configMap(`big-${n}`, big))
        }
        expect(refusal(reply)).toEqual([503, 1])
        expect(await etcd.alarms()).toEqual(['NOSPACE'])
        // The log is written every ten seconds.
        await expect.poll(() => logged, { timeout: 15_000 }).toContainEqual(expect.stringContaining('NOSPACE'))
        const { text: metrics } = await server.send('GET', '/metrics')
        expect(metrics).toContain('apiserver_storage_quota_bytes{storage_cluster_id="krmkit-0"} 8388608')
        expect(metrics).toContain('apiserver_storage_problems{storage_cluster_id="krmkit-0"} 1')
        const refused = await Promise.all([
          server.send('POST', configMaps, configMap('during')),
          server.send('POST', events, event('during')),
          server.send('PATCH', `${configMaps}/big-0`, { data: { more: '1' } }, 'application/merge-patch+json'),
        ])
        expect(refused.map(refusal)).toEqual(refused.map(() => [503, 1]))
        // Reads and deletions need no space.
        expect((await namesOf(server)).sort()).toEqual([...written].sort())
        expect((await namesOf(server, '?resourceVersion=0')).sort()).toEqual([...written].sort())
        expect((await server.send('DELETE', `${events}/before`)).status).toBe(200)
        // A write beside a large value copies the page of both, so that much more space is needed than what is written.
        const deleted = written.filter((name) => /^big-\d*[13579]$/.test(name))
        for (const name of deleted) expect((await server.send('DELETE', `${configMaps}/${name}`)).status).toBe(200)
        const { metadata } = JSON.parse((await server.send('GET', configMaps)).text)
        await etcd.reclaimSpace(Number(metadata.resourceVersion))
        await expect
          .poll(async () => (await server.send('POST', configMaps, configMap('after'))).status, { timeout: 20_000 })
          .toBe(201)
        const expected = [...written.filter((name) => !deleted.includes(name)), 'after'].sort()
        expect((await namesOf(server)).sort()).toEqual(expected)
        const seen = () => watch.lines.map((line) => `${JSON.parse(line).type} ${JSON.parse(line).object.metadata.name}`)
        await expect.poll(seen).toContain('ADDED after')
        const changes = [...written.map((name) => `ADDED ${name}`), ...deleted.map((name) => `DELETED ${name}`), 'ADDED after']
        expect(seen().sort()).toEqual(changes.sort())
        watch.close()
      },
    ),
  90_000,
)

it.skipIf(program === undefined || noSlowDisks !== undefined)(
  `waits for a slow disk of etcd with writes alone, and loses none${missing}${noSlowDisks === undefined ? '' : ` (${noSlowDisks})`}`,
  () =>
    withServer({}, async ({ etcd, server }) => {
      const names = Array.from({ length: 16 }, (_, n) => `slow-${n}`)
      {
        await using _slow = await slowDisk(etcd.pid!, 1000)
        const started = Date.now()
        const replies = names.map((name) => server.send('POST', configMaps, configMap(name)))
        expect((await server.send('GET', `${configMaps}?resourceVersion=0`)).status).toBe(200)
        const done = await Promise.all(replies)
        expect(done.map(({ status }) => status)).toEqual(names.map(() => 201))
        expect(Date.now() - started).toBeGreaterThan(1000)
      }
      expect(await namesOf(server)).toEqual(expect.arrayContaining(names))
    }),
  90_000,
)

it.skipIf(program === undefined)(
  `stops within 30 seconds while etcd does not answer, and leaves its Lease to expire${missing}`,
  () =>
    withServer({}, async ({ etcd, server, running }) => {
      await expect.poll(() => holderOf(etcd), { timeout: 20_000 }).not.toBe('')
      etcd.signal('SIGSTOP')
      const reply = server.send('POST', configMaps, configMap('during')).catch((error: Error) => error)
      const startedMs = performance.now()
      await running.close()
      expect(performance.now() - startedMs).toBeLessThan(30_000)
      // The connection may end first.
      expect([504, undefined]).toContain(((await reply) as Reply).status)
      etcd.signal('SIGCONT')
      expect(await holderOf(etcd)).not.toBe('')
    }),
  90_000,
)

it.skipIf(program === undefined)(
  `releases its Lease when etcd answers again before it has stopped${missing}`,
  () =>
    withServer({}, async ({ etcd, running }) => {
      await expect.poll(() => holderOf(etcd), { timeout: 20_000 }).not.toBe('')
      etcd.signal('SIGSTOP')
      const stopping = running.close()
      await new Promise((resolve) => setTimeout(resolve, 2000))
      etcd.signal('SIGCONT')
      await stopping
      expect(await holderOf(etcd)).toBe('')
    }),
  90_000,
)

/** The holder of the Lease of the controllers, as etcd has it; empty without one. */
async function holderOf(etcd: EtcdProcess): Promise<string> {
  const storage = await etcdStorage({
    endpoints: [etcd.url],
    form: createStoredForm({ catalog: createCatalog() }),
    compactionIntervalMs: 0,
  })
  try {
    const entry = await storage.get('/coordination.k8s.io/leases/kube-system/kube-controller-manager')
    if (entry === undefined) return ''
    const { spec } = JSON.parse(new TextDecoder().decode(entry.value)) as { spec?: { holderIdentity?: string } }
    return spec?.holderIdentity ?? ''
  } finally {
    await storage.close()
  }
}
