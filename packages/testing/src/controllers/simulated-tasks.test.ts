import { resourceType } from '@krmkit/client'
import type { MatchedBehavior } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { pods } from './workloads.fixture.ts'

interface Workload extends ApiObject {
  spec?: object
  status?: { succeeded?: number; conditions?: { type: string; status: string }[]; [member: string]: unknown }
}

const jobs = resourceType<Workload>({ group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' })
const start = (behaviors: readonly MatchedBehavior[] = []) =>
  createTestServer({ cluster: { nodes: 3, behaviors }, startAtMs: Date.UTC(2024, 0, 1) })
const container = { name: 'c', image: 'web:1' }
const getPod = ({ client }: TestServer) => client.get(pods, 'web', { namespace: 'default' })

describe('simulated containers that end', () => {
  it('complete containers of pods that are not restarted, unless they have ports or probes', async () => {
    const behaviors = [{ match: { container: 'endless' }, exitAfterMs: Number.POSITIVE_INFINITY }]
    await using server = await start(behaviors)
    const image = 'curl:8'
    const initContainers = [{ name: 'sidecar', image, restartPolicy: 'Always' }]
    const phaseOf = async (spec: object, annotations: Record<string, string> = {}) => {
      await server.client.create(pods, { metadata: { name: 'web', namespace: 'default', annotations }, spec } as never)
      await server.clock.advance('5s')
      const { status } = await getPod(server)
      await server.client.delete(pods, 'web', { namespace: 'default', gracePeriodSeconds: 0 })
      await server.settle()
      return status?.phase
    }
    const wget = { name: 'c', image, command: ['wget'], args: ['web:80'] }
    expect(await phaseOf({ restartPolicy: 'Never', containers: [wget] })).toBe('Succeeded')
    expect(await phaseOf({ restartPolicy: 'OnFailure', containers: [wget], initContainers })).toBe('Succeeded')
    expect(await phaseOf({ restartPolicy: 'Always', containers: [wget] })).toBe('Running')
    expect(await phaseOf({ restartPolicy: 'Never', containers: [{ ...wget, ports: [{ containerPort: 80 }] }] })).toBe('Running')
    expect(
      await phaseOf({ restartPolicy: 'Never', containers: [{ ...wget, livenessProbe: { exec: { command: ['a'] } } }] }),
    ).toBe('Running')
    expect(await phaseOf({ restartPolicy: 'Never', containers: [{ ...wget, name: 'endless' }] })).toBe('Running')
    const never = { 'simulation.krmkit.dev/exit-after': 'never' }
    expect(await phaseOf({ restartPolicy: 'Never', containers: [wget] }, never)).toBe('Running')
    const failing = { 'simulation.krmkit.dev/exit-code': '1' }
    expect(await phaseOf({ restartPolicy: 'Never', containers: [wget] }, failing)).toBe('Failed')
  })

  it('keep the sidecars of jobs running until the containers have ended', async () => {
    await using server = await start([{ match: { container: 'c' }, exitAfterMs: 60_000 }])
    const initContainers = [{ name: 'sidecar', image: 'i', restartPolicy: 'Always' }]
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [container], initContainers } } }
    await server.client.create(jobs, { metadata: { name: 'work', namespace: 'default' }, spec })
    await server.clock.advance('59s')
    const { items } = await server.client.list(pods, { namespace: 'default' })
    expect(items[0]?.status).toMatchObject({ initContainerStatuses: [{ restartCount: 0, state: { running: {} } }] })
    await server.clock.advance('5s')
    expect((await server.client.get(jobs, 'work', { namespace: 'default' })).status).toMatchObject({ succeeded: 1 })
  })

  it('keep pods of jobs running when their image only idles', async () => {
    await using server = await start()
    const containers = [{ name: 'c', image: 'registry.example/pause:3.10' }]
    const spec = { template: { spec: { restartPolicy: 'Never', containers } } }
    await server.client.create(jobs, { metadata: { name: 'work', namespace: 'default' }, spec })
    await server.clock.advance('10s')
    expect((await server.client.get(jobs, 'work', { namespace: 'default' })).status).toMatchObject({ active: 1, ready: 1 })
  })

  it('complete the containers of jobs after their crashes', async () => {
    await using server = await start([{ crashes: 1, exitCode: 3 }])
    const spec = { template: { spec: { restartPolicy: 'OnFailure', containers: [container] } } }
    await server.client.create(jobs, { metadata: { name: 'work', namespace: 'default' }, spec })
    await server.clock.advance('10s')
    expect((await server.client.get(jobs, 'work', { namespace: 'default' })).status).toMatchObject({ succeeded: 1 })
    const { items } = await server.client.list(pods, { namespace: 'default' })
    expect(items.map(({ status }) => status?.containerStatuses?.[0])).toMatchObject([
      { restartCount: 1, state: { terminated: { exitCode: 0 } }, lastState: { terminated: { exitCode: 3 } } },
    ])
  })

  it('complete the pods of jobs', async () => {
    await using server = await start()
    const spec = { completions: 2, template: { spec: { restartPolicy: 'Never', containers: [container] } } }
    await server.client.create(jobs, { metadata: { name: 'work', namespace: 'default' }, spec })
    await server.clock.advance('10s')
    const { status } = await server.client.get(jobs, 'work', { namespace: 'default' })
    expect(status).toMatchObject({ succeeded: 2 })
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Complete', status: 'True' }))
  })
})
