import { resourceType } from '@krmkit/client'
import { CronJob, Job } from '@krmkit/kinds/batch/v1'
import { Node } from '@krmkit/kinds/core/v1'
import { type ApiObject, parseTime } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from './interfaces.ts'
import { createTestServer } from './test-server.ts'

interface Lease extends ApiObject {
  spec?: { renewTime?: string }
}

const leases = resourceType<Lease>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })
const namespace = 'kube-node-lease'
const start = (nodes = 1) => createTestServer({ cluster: { nodes }, startAtMs: Date.UTC(2024, 0, 1) })
const renewals = ({ ledger }: TestServer) => ledger.count({ resource: 'leases', verb: 'patch', controllers: true })
const ready = async ({ client }: TestServer) =>
  (await client.get(Node, 'node-1')).status?.conditions?.find(({ type }) => type === 'Ready')?.status

describe('heartbeats while time advances', () => {
  it('are sent once when time stops, and are then fresh', async () => {
    await using cluster = await start()
    await cluster.settle()
    const before = renewals(cluster)
    await cluster.clock.advance('24h')
    const { spec } = await cluster.client.get(leases, 'node-1', { namespace })
    expect(cluster.clock.now() - parseTime(spec?.renewTime ?? '')).toBeLessThanOrEqual(10_000)
    expect(renewals(cluster) - before).toBeLessThan(10)
    expect(await ready(cluster)).toBe('True')
  })

  it('are sent on time if they are watched', async () => {
    await using cluster = await start()
    await cluster.settle()
    const abort = new AbortController()
    const seen: string[] = []
    const events = cluster.client.watch(leases, { namespace, resume: false, signal: abort.signal })
    const done = (async () => {
      for await (const { object } of events) seen.push(object.spec?.renewTime ?? '')
    })()
    await cluster.settle()
    await cluster.clock.advance('1m')
    expect(new Set(seen).size).toBe(7)
    abort.abort()
    await done
  })

  it('of a failed node end at the time of the failure', async () => {
    await using cluster = await start()
    await cluster.settle()
    await cluster.clock.advance('1h')
    cluster.failNode('node-1')
    await cluster.clock.advance('49s')
    expect(await ready(cluster)).toBe('True')
    await cluster.clock.advance('2s')
    expect(await ready(cluster)).toBe('Unknown')
    cluster.recoverNode('node-1')
    await cluster.clock.advance('1h')
    expect(await ready(cluster)).toBe('True')
  })

  it('take few steps for a day of cron jobs', async () => {
    await using cluster = await start(3)
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }
    const spec = { schedule: '0 * * * *', jobTemplate: { spec: { template } }, successfulJobsHistoryLimit: 100 }
    await cluster.client.create(CronJob, { metadata: { name: 'tick', namespace: 'default' }, spec })
    await cluster.clock.advance('24h')
    const { items } = await cluster.client.list(Job, { namespace: 'default' })
    await cluster.clock.advance('1m')
    expect(items).toHaveLength(24)
    const count = (resource: string) => cluster.ledger.count({ resource, controllers: true })
    expect([count('leases'), count('nodes')]).toEqual([6, 3])
    expect(cluster.ledger.count({ controllers: true })).toBeLessThan(600)
  })

  it('cause no needless requests of controllers', async () => {
    await using cluster = await start()
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }
    const spec = { schedule: '0 * * * *', jobTemplate: { spec: { template } }, successfulJobsHistoryLimit: 1 }
    await cluster.client.create(CronJob, { metadata: { name: 'tick', namespace: 'default' }, spec })
    await cluster.settle()
    cluster.ledger.clear()
    await cluster.clock.advance('4h')
    await cluster.clock.advance('1m')
    const { items } = await cluster.client.list(Job, { namespace: 'default' })
    expect(items.map(({ status }) => status?.succeeded)).toEqual([1])
    expect(cluster.ledger.find({ resource: 'pods', verb: 'delete', controllers: true })).toHaveLength(3)
    expect(cluster.ledger.entries.filter(({ code }) => code >= 400)).toEqual([])
  })
})
