import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, endPod, labels, podNames, pods, podsOf, runPod, runPods, startWith, template } from './workloads.fixture.ts'

interface ReplicaSet extends ApiObject {
  spec?: { replicas?: number }
  status?: { replicas?: number; readyReplicas?: number; availableReplicas?: number; conditions?: object[] }
}

const replicaSets = resourceType<ReplicaSet>({ group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' })
const replicationControllers = resourceType<ReplicaSet>({
  group: '',
  version: 'v1',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
})

function replicaSet(spec: object = {}, name = 'web'): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: labels }, template: template(), ...spec },
  }
}

function pod(name: string, metadata: object = {}): ApiObject {
  const { spec } = template()
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', labels, ...metadata }, spec }
}

const start = (...seed: ApiObject[]) => startWith(['replicaset-controller'], seed)
const statusOf = async ({ client }: TestServer) => (await client.get(replicaSets, 'web')).status
const scale = async (server: TestServer, replicas: number) => {
  await server.client.patch(replicaSets, 'web', { type: 'merge', patch: { spec: { replicas } } })
  await server.settle()
}

describe('replica set controller', () => {
  it('creates pods from the template and counts them', async () => {
    await using server = await start(replicaSet())
    const [first, ...others] = await podsOf(server)
    const { metadata } = await server.client.get(replicaSets, 'web')
    expect(others).toHaveLength(2)
    expect(first?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/),
      generateName: 'web-',
      labels,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
      ],
    })
    expect(await statusOf(server)).toEqual({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 })
    await runPods(server)
    expect(await statusOf(server)).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3 })
  })

  it('replaces pods that ended or were deleted', async () => {
    await using server = await start(replicaSet())
    const [a, b] = await podNames(server)
    await server.client.delete(pods, a ?? '')
    await endPod(server, b ?? '', 1)
    await server.settle()
    const all = await podsOf(server)
    expect(all.map(({ metadata }) => metadata.name)).not.toContain(a)
    expect(all.filter(({ status }) => status?.phase === 'Pending')).toHaveLength(3)
    expect(await statusOf(server)).toMatchObject({ replicas: 3 })
  })

  it('replaces a terminating pod before it is gone', async () => {
    await using server = await start(replicaSet({ replicas: 1 }))
    const [name = ''] = await podNames(server)
    await bindPod(server, name, 'node-1')
    await server.client.delete(pods, name)
    await server.settle()
    expect(await podNames(server)).toHaveLength(2)
    expect(await statusOf(server)).toMatchObject({ replicas: 1 })
  })

  it('counts terminating pods since 1.35', async () => {
    await using server = await startWith(['replicaset-controller'], [replicaSet()], { emulate: '1.35' })
    expect(await statusOf(server)).toEqual({
      ...{ replicas: 3, fullyLabeledReplicas: 3, terminatingReplicas: 0, observedGeneration: 1 },
    })
    const [first = ''] = await podNames(server)
    await bindPod(server, first, 'n')
    await server.client.delete(pods, first)
    await server.settle()
    expect(await statusOf(server)).toMatchObject({ replicas: 3, terminatingReplicas: 1 })
    await server.client.delete(pods, first, { gracePeriodSeconds: 0 })
    await server.settle()
    expect(await statusOf(server)).toMatchObject({ replicas: 3, terminatingReplicas: 0 })
  })

  it('counts pods as available only after minReadySeconds', async () => {
    await using server = await start(replicaSet({ replicas: 2, minReadySeconds: 30 }))
    await runPods(server)
    expect(await statusOf(server)).toMatchObject({ readyReplicas: 2 })
    expect(await statusOf(server)).not.toHaveProperty('availableReplicas')
    await server.clock.advance('29s')
    expect(await statusOf(server)).not.toHaveProperty('availableReplicas')
    await server.clock.advance('1s')
    expect(await statusOf(server)).toMatchObject({ readyReplicas: 2, availableReplicas: 2 })
  })

  it('adopts matching pods, releases others, and ignores pods of other controllers', async () => {
    const other = { apiVersion: 'example.com/v1', kind: 'Other', name: 'o', uid: 'other', controller: true }
    await using server = await start(pod('free'), pod('taken', { ownerReferences: [other] }), replicaSet({ replicas: 2 }))
    const ownerOf = async (name: string) => (await server.client.get(pods, name)).metadata.ownerReferences?.[0]?.kind
    expect([await ownerOf('free'), await ownerOf('taken')]).toEqual(['ReplicaSet', 'Other'])
    expect(await podNames(server)).toHaveLength(3)
    await server.client.patch(pods, 'free', { type: 'merge', patch: { metadata: { labels: { app: 'else' } } } })
    await server.settle()
    expect(await ownerOf('free')).toBeUndefined()
    expect(await podNames(server)).toHaveLength(4)
  })

  it('deletes surplus pods: not ready first, then by cost, then pods that share a node', async () => {
    await using server = await start(replicaSet({ replicas: 5 }))
    const [a = '', b = '', c = '', d = '', e = ''] = await podNames(server)
    for (const [name, node] of [a, b, c, d, e].map((name, i) => [name, i < 3 ? 'node-1' : `node-${i}`] as const)) {
      await bindPod(server, name, node)
      await runPod(server, name, { ready: name !== e })
    }
    await server.client.patch(pods, d, {
      type: 'merge',
      patch: { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } } },
    })
    await server.settle()
    const alive = async () =>
      (await podsOf(server))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name)
    await scale(server, 4)
    expect(await alive()).toEqual([a, b, c, d])
    await scale(server, 3)
    expect(await alive()).toEqual([a, b, c])
  })

  it('reports a failure to create pods, and recovers', async () => {
    await using server = await start()
    const creations = { verb: 'create', resource: 'pods', user: 'system:kube-controller-manager' }
    server.faults.next(creations, { fail: 403, reason: 'Forbidden', message: 'not today' }, { after: 1, times: 4 })
    await server.client.create(replicaSets, replicaSet())
    await server.settle()
    expect(await podNames(server)).toHaveLength(1)
    const lastTransitionTime = '2024-01-01T00:00:00Z'
    expect((await statusOf(server))?.conditions).toEqual([
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'not today', lastTransitionTime },
    ])
    await server.clock.advance('1m')
    expect(await statusOf(server)).toEqual({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 })
  })

  it('creates many pods with one request per pod', async () => {
    await using server = await start()
    server.ledger.clear()
    await server.client.create(replicaSets, replicaSet({ replicas: 120 }))
    await server.settle()
    expect(await podNames(server)).toHaveLength(120)
    const writes = server.ledger.entries.filter(({ method, path }) => method === 'POST' && path.includes('/pods'))
    expect(writes).toHaveLength(120)
    await scale(server, 0)
    expect(await podNames(server)).toEqual([])
  })

  it('is disabled by default', async () => {
    await using server = await startWith(['*'], [replicaSet()])
    expect([await podNames(server), await statusOf(server)]).toEqual([[], { replicas: 0 }])
  })
})

describe('replication controller', () => {
  it('maintains pods selected by labels', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2, selector: labels, template: template() },
    }
    await using server = await startWith(['replicationcontroller-controller'], [object])
    await runPods(server)
    const { status } = await server.client.get(replicationControllers, 'web')
    expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 })
    expect((await podsOf(server))[0]?.metadata.ownerReferences).toMatchObject([
      { apiVersion: 'v1', kind: 'ReplicationController' },
    ])
  })
})
