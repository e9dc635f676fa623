import { resourceType } from '@krmkit/client'
import type { NodeTemplate } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'

interface Amounts {
  cpu?: string
  memory?: string
}

interface Pod extends ApiObject {
  spec?: object
  status?: {
    phase?: string
    conditions?: { type: string; status: string; reason?: string; message?: string }[]
    containerStatuses?: {
      restartCount: number
      allocatedResources?: Amounts
      resources?: { requests?: Amounts; limits?: Amounts }
    }[]
  }
}

const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
const nodes: NodeTemplate[] = [{ name: 'n', capacity: { cpu: '4', memory: '8Gi' } }]
const start = () => createTestServer({ cluster: { nodes }, startAtMs: Date.UTC(2024, 0, 1) })

async function run(server: TestServer, name: string, cpu: string, more: object = {}): Promise<void> {
  const containers = [{ name: 'c', image: 'web:1', resources: { requests: { cpu } }, ...more }]
  await server.client.create(pods, { metadata: { name, namespace: 'default' }, spec: { containers } })
  await server.settle()
}

async function resize(server: TestServer, name: string, cpu: string): Promise<void> {
  const patch = { spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] } }
  await server.client.patch(pods, name, { namespace: 'default', type: 'strategic', subresource: 'resize', patch })
  await server.settle()
}

/** Requested, allocated and actual CPU, and the conditions of the resize. */
async function stateOf(server: TestServer, name: string) {
  const { status } = await server.client.get(pods, name, { namespace: 'default' })
  const [container] = status?.containerStatuses ?? []
  const resizes = (status?.conditions ?? []).filter(({ type }) => type.startsWith('PodResize'))
  return {
    cpu: [container?.allocatedResources?.cpu, container?.resources?.requests?.cpu],
    conditions: resizes.map(({ type, reason = '', message = '' }) => `${type} ${reason} ${message}`.trim()),
    restarts: container?.restartCount,
  }
}

describe('in-place resize of pods', () => {
  it('allocates the requested resources without a restart', async () => {
    await using server = await start()
    await run(server, 'web', '1')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['1', '1'], conditions: [], restarts: 0 })
    await resize(server, 'web', '2')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['2', '1'], conditions: ['PodResizeInProgress'], restarts: 0 })
    await server.clock.advance('1s')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['2', '2'], conditions: [], restarts: 0 })
    await resize(server, 'web', '500m')
    await server.clock.advance('1s')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['500m', '500m'], conditions: [], restarts: 0 })
  })

  it('restarts containers if their resize policy requires it', async () => {
    await using server = await start()
    await run(server, 'web', '1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })
    await resize(server, 'web', '2')
    await server.clock.advance('1s')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['2', '2'], conditions: [], restarts: 1 })
    const { items } = await server.client.list(
      resourceType<ApiObject & { message?: string }>({ group: '', version: 'v1', resource: 'events', kind: 'Event' }),
    )
    expect(items.map(({ message }) => message)).toContain('Container c resize requires restart')
  })

  it('is deferred while the node has no room', async () => {
    await using server = await start()
    await run(server, 'web', '1')
    await run(server, 'other', '2')
    await resize(server, 'web', '3')
    const deferred =
      "PodResizePending Deferred Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['1', '1'], conditions: [deferred], restarts: 0 })
    await server.client.delete(pods, 'other', { namespace: 'default' })
    await server.clock.advance('2s')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['3', '3'], conditions: [], restarts: 0 })
  })

  it('keeps the resources when the node is too small, until less is requested', async () => {
    await using server = await start()
    await run(server, 'web', '1')
    await resize(server, 'web', '5')
    const infeasible = "PodResizePending Infeasible Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['1', '1'], conditions: [infeasible], restarts: 0 })
    // The scheduler counts the allocated resources.
    await run(server, 'other', '3')
    expect((await server.client.get(pods, 'other', { namespace: 'default' })).status?.phase).toBe('Running')
    await resize(server, 'web', '1')
    expect(await stateOf(server, 'web')).toEqual({ cpu: ['1', '1'], conditions: [], restarts: 0 })
  })

  it('makes the scheduler count both allocated and requested resources', async () => {
    await using server = await start()
    await run(server, 'web', '1')
    await run(server, 'other', '2')
    await resize(server, 'web', '2')
    await run(server, 'late', '1')
    expect((await server.client.get(pods, 'late', { namespace: 'default' })).status?.phase).toBe('Pending')
    await resize(server, 'web', '1')
    await server.clock.advance('1m')
    expect((await server.client.get(pods, 'late', { namespace: 'default' })).status?.phase).toBe('Running')
  })
})
