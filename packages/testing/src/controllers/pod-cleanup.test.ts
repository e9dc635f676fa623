import { resourceType } from '@krmkit/client'
import { type ApiObject, formatTime } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, endPod, podNames, pods, podsOf, runPod, startWith } from './workloads.fixture.ts'

interface Node extends ApiObject {
  spec?: { taints?: { key: string; effect: string }[] }
  status?: { conditions?: { type: string; status: string; reason?: string }[] }
}

const nodes = resourceType<Node>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const jobs = resourceType({ group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' })
const leases = resourceType<ApiObject & { spec?: object }>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
})

const node: ApiObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }

function pod(name: string, spec: object = {}, metadata: object = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { containers: [{ name: 'c', image: 'web:1' }], ...spec },
  }
}

const terminating = async (server: TestServer) =>
  (await podsOf(server)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name)

async function taint(server: TestServer, ...taints: { key: string; effect: string }[]): Promise<void> {
  await server.client.patch(nodes, 'node-1', { type: 'merge', patch: { spec: { taints } } })
  await server.settle()
}

describe('TTL controller', () => {
  it('deletes an ended job and its pods after its time to live', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'web:1' }] } }
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'work', namespace: 'default' },
      spec: { template, ttlSecondsAfterFinished: 60 },
    }
    const names = ['job-controller', 'ttl-after-finished-controller', 'garbage-collector-controller']
    await using server = await startWith(names, [job])
    await server.clock.advance('10m')
    const [name = ''] = await podNames(server)
    await endPod(server, name)
    await server.clock.advance('59s')
    expect((await server.client.list(jobs, { namespace: 'default' })).items).toHaveLength(1)
    await server.clock.advance('1s')
    expect((await server.client.list(jobs, { namespace: 'default' })).items).toEqual([])
    expect(await podNames(server)).toEqual([])
  })
})

describe('pod garbage collector', () => {
  it('deletes pods of a missing node after a quarantine', async () => {
    await using server = await startWith(['pod-garbage-collector-controller'], [node, pod('a')])
    await bindPod(server, 'a', 'node-1')
    await server.client.delete(nodes, 'node-1')
    await server.clock.advance('39s')
    expect(await podNames(server)).toEqual(['a'])
    await server.clock.advance('1s')
    expect(await podNames(server)).toEqual([])
  })

  it('deletes terminating pods that are unscheduled or on an out-of-service node', async () => {
    const names = ['pod-garbage-collector-controller']
    await using server = await startWith(names, [node, pod('a'), pod('b', {}, { finalizers: ['example.com/hold'] })])
    await bindPod(server, 'a', 'node-1')
    await server.client.delete(pods, 'a')
    await server.client.delete(pods, 'b')
    await server.settle()
    expect((await server.client.get(pods, 'b')).status?.phase).toBe('Failed')
    expect(await terminating(server)).toEqual(['a', 'b'])
    await taint(server, { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' })
    expect(await podNames(server)).toEqual(['b'])
  })
})

describe('taint eviction controller', () => {
  const key = 'example.com/gone'
  const tolerating = (tolerationSeconds?: number) => ({
    tolerations: [
      { key, operator: 'Exists', effect: 'NoExecute', ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) },
    ],
  })

  it('deletes pods that do not tolerate a taint, at once or when the toleration expires', async () => {
    const seed = [node, pod('a'), pod('b', tolerating(30)), pod('c', tolerating())]
    await using server = await startWith(['taint-eviction-controller'], seed)
    for (const name of ['a', 'b', 'c']) await bindPod(server, name, 'node-1')
    await taint(server, { key, effect: 'NoExecute' })
    expect(await terminating(server)).toEqual(['a'])
    expect((await server.client.get(pods, 'a')).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
    )
    await server.clock.advance('29s')
    expect(await terminating(server)).toEqual(['a'])
    await server.clock.advance('1s')
    expect(await terminating(server)).toEqual(['a', 'b'])
  })

  it('keeps pods when the taint is removed in time', async () => {
    await using server = await startWith(['taint-eviction-controller'], [node, pod('b', tolerating(30))])
    await bindPod(server, 'b', 'node-1')
    await taint(server, { key, effect: 'NoExecute' })
    await server.clock.advance('20s')
    await taint(server)
    await server.clock.advance('1h')
    expect(await terminating(server)).toEqual([])
  })
})

describe('node heartbeats', () => {
  const ready = (server: TestServer) => ({
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: formatTime(server.clock.now()) }],
  })

  it('mark a node as unknown and its pods as not ready when the heartbeats stop', async () => {
    await using server = await startWith(['node-lifecycle-controller'], [node, pod('a')])
    await server.client.patch(nodes, 'node-1', { type: 'merge', subresource: 'status', patch: { status: ready(server) } })
    await bindPod(server, 'a', 'node-1')
    await runPod(server, 'a')
    const renewTime = () => new Date(server.clock.now()).toISOString().replace('Z', '000Z')
    const namespace = 'kube-node-lease'
    const lease = { metadata: { name: 'node-1', namespace }, spec: { holderIdentity: 'node-1', renewTime: renewTime() } }
    await server.client.create(leases, lease)
    await server.clock.advance('40s')
    await server.client.patch(leases, 'node-1', { type: 'merge', namespace, patch: { spec: { renewTime: renewTime() } } })
    await server.clock.advance('50s')
    const state = async () => {
      const { spec, status } = await server.client.get(nodes, 'node-1')
      return [
        status?.conditions?.find(({ type }) => type === 'Ready')?.status,
        spec?.taints?.map(({ key, effect }) => `${key}:${effect}`),
      ]
    }
    expect((await state())[0]).toBe('True')
    await server.clock.advance('1s')
    expect(await state()).toEqual([
      'Unknown',
      ['node.kubernetes.io/unreachable:NoSchedule', 'node.kubernetes.io/unreachable:NoExecute'],
    ])
    const [found] = await podsOf(server)
    expect(found?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False')
    await server.client.patch(nodes, 'node-1', { type: 'merge', subresource: 'status', patch: { status: ready(server) } })
    await server.settle()
    expect((await state())[0]).toBe('True')
  })

  it('are not expected from a node without a lease', async () => {
    await using server = await startWith(['*'], [node])
    await server.client.patch(nodes, 'node-1', { type: 'merge', subresource: 'status', patch: { status: ready(server) } })
    await server.clock.advance('1h')
    const { status } = await server.client.get(nodes, 'node-1')
    expect(status?.conditions).toEqual([expect.objectContaining({ type: 'Ready', status: 'True' })])
  })
})
