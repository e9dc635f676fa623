import { type Client, resourceType } from '@krmkit/client'
import type { ApiObject, OwnerReference } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { deployments, pods, replicaSets } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

interface Budget extends ApiObject {
  status?: { disruptedPods?: Record<string, string>; conditions?: { type: string; status: string; reason: string }[] }
}

const budgets = resourceType<Budget>({
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
})
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

function pod(name: string, owner?: OwnerReference): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, ...(owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: true }] }) },
    spec: { ...template.spec, nodeName: 'n' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

function budget(spec: object): { metadata: { name: string }; spec: object } {
  return { metadata: { name: 'b' }, spec: { selector: { matchLabels: labels }, ...spec } }
}

/** Creates a deployment of 4, its replica set of 4, and 3 ready pods. */
async function deploy(client: Client): Promise<void> {
  const spec = { replicas: 4, selector: { matchLabels: labels }, template }
  const top = await client.create(deployments, { metadata: { name: 'web' }, spec })
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: top.metadata.uid!, controller: true }
  const set = await client.create(replicaSets, {
    metadata: { name: 'web-1', ownerReferences: [owner] },
    spec: { ...spec, replicas: 2 },
  })
  const setOwner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid! }
  for (const name of ['a', 'b', 'c']) {
    const { status, ...made } = pod(name, setOwner)
    await client.create(pods, made)
    await client.patch(pods, name, { type: 'merge', subresource: 'status', patch: { status: status as never } })
  }
}

function evict(client: Client, name: string, namespace = 'default') {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
  return client.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body })
}

describe('selector of a budget', () => {
  const unlabeled = (name: string, namespace: string) => {
    const { metadata, ...rest } = pod(name)
    return { ...rest, metadata: { name, namespace }, apiVersion: 'v1', kind: 'Pod' }
  }

  it.each([
    ['empty: covers all pods of the namespace', { selector: {} }, 2, 429],
    ['absent: covers none', {}, 0, 201],
  ])('%s [P341]', async (_, selector, expectedPods, code) => {
    await using cluster = await createTestServer({ seed: [pod('a'), unlabeled('b', 'default'), unlabeled('c', 'other')] })
    const { client } = cluster
    await client.create(budgets, { metadata: { name: 'b' }, spec: { ...selector, minAvailable: 2 } } as never)
    await cluster.settle()
    expect((await client.get(budgets, 'b')).status).toMatchObject({ expectedPods })
    expect([(await evict(client, 'a')).status, (await evict(client, 'b')).status]).toEqual([code, code])
    const elsewhere = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'c', namespace: 'other' } }
    const path = '/api/v1/namespaces/other/pods/c/eviction'
    expect((await client.request({ method: 'POST', path, body: elsewhere })).status).toBe(201)
  })
})

describe('disruption controller', () => {
  it('counts pods, and limits evictions [P4]', async () => {
    await using cluster = await createTestServer({ seed: [pod('a'), pod('b')] })
    const { client } = cluster
    await client.create(budgets, budget({ minAvailable: 1 }))
    await cluster.settle()
    const counted = await client.get(budgets, 'b')
    expect(counted.status).toMatchObject({
      observedGeneration: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      disruptionsAllowed: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    })
    expect((await evict(client, 'a')).status).toBe(201)
    await cluster.settle()
    expect((await client.get(budgets, 'b')).status).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1 })
    const client429 = cluster.as({ username: 'impatient', groups: ['system:authenticated'] })
    const refused = evict(client429, 'b')
    await cluster.clock.advance({ minutes: 2 })
    expect((await refused).status).toBe(429)
  })

  it('covers all pods of its namespace with an empty selector, and none without one [P341]', async () => {
    const other = (name: string, namespace: string): ApiObject => ({ ...pod(name), metadata: { name, namespace, labels: {} } })
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apart' } }
    await using cluster = await createTestServer({
      seed: [namespace, pod('a'), other('plain', 'default'), other('away', 'apart')],
      startAtMs: Date.UTC(2031, 0, 1),
    })
    const { client } = cluster
    await client.create(budgets, { metadata: { name: 'empty' }, spec: { selector: {}, minAvailable: 2 } })
    await client.create(budgets, { metadata: { name: 'absent', namespace: 'apart' }, spec: { minAvailable: 2 } })
    await cluster.settle()
    expect((await client.get(budgets, 'empty')).status).toMatchObject({
      expectedPods: 2,
      currentHealthy: 2,
      disruptionsAllowed: 0,
    })
    expect((await client.get(budgets, 'absent', { namespace: 'apart' })).status).toMatchObject({ expectedPods: 0 })
    const statuses: number[] = []
    for (const [name, namespace] of [['a'], ['plain'], ['away', 'apart']] as const)
      statuses.push((await evict(client, name, namespace)).status)
    expect(statuses).toEqual([429, 429, 201])
  })

  it('follows the creation, readiness and deletion of pods', async () => {
    await using cluster = await createTestServer({ seed: [pod('a')] })
    const { client } = cluster
    await client.create(budgets, budget({ minAvailable: 1 }))
    await cluster.settle()
    const healthy = async () => (await client.get(budgets, 'b')).status
    expect(await healthy()).toMatchObject({ currentHealthy: 1, expectedPods: 1 })
    const { status: _, ...other } = pod('b')
    await client.create(pods, other)
    await cluster.settle()
    expect(await healthy()).toMatchObject({ currentHealthy: 1, expectedPods: 2 })
    const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
    await client.patch(pods, 'b', { type: 'merge', subresource: 'status', patch: ready })
    await cluster.settle()
    expect(await healthy()).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 })
    await client.patch(pods, 'b', { type: 'merge', patch: { metadata: { labels: { app: 'other' } } } })
    await cluster.settle()
    expect(await healthy()).toMatchObject({ currentHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 })
    await client.delete(pods, 'a', { gracePeriodSeconds: 0 })
    await cluster.settle()
    expect(await healthy()).toMatchObject({ currentHealthy: 0, expectedPods: 0, disruptionsAllowed: 0 })
  })

  it.each([
    ['a number that may be missing', { maxUnavailable: 1 }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 0 }],
    ['a share that may be missing', { maxUnavailable: '50%' }, { expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 1 }],
    ['a share that must be there', { minAvailable: '25%' }, { expectedPods: 4, desiredHealthy: 1, disruptionsAllowed: 2 }],
  ])('uses the scale of the deployment of the pods: %s', async (_, spec, wanted) => {
    await using cluster = await createTestServer({ controllers: ['disruption-controller'] })
    await deploy(cluster.client)
    await cluster.client.create(budgets, budget(spec))
    await cluster.settle()
    expect((await cluster.client.get(budgets, 'b')).status).toMatchObject({ currentHealthy: 3, ...wanted })
  })

  it('allows nothing when a controller has no scale', async () => {
    const errors: unknown[] = []
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '11111111-2222-3333-4444-555555555555' }
    await using cluster = await createTestServer({
      seed: [pod('a', owner)],
      controllers: ['disruption-controller'],
      onError: (error) => errors.push(error),
    })
    await cluster.client.create(budgets, budget({ maxUnavailable: 1 }))
    await cluster.settle()
    expect((await cluster.client.get(budgets, 'b')).status).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed' }],
    })
    expect(errors[0]).toMatchObject({ code: 'NoScale' })
  })

  it('drops an eviction without deletion after two minutes', async () => {
    await using cluster = await createTestServer({ seed: [pod('a'), pod('b')] })
    const { client, clock } = cluster
    await client.create(budgets, budget({ minAvailable: 1 }))
    await cluster.settle()
    const evictedAt = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
    const patch = { status: { disruptedPods: { a: evictedAt } } }
    await client.patch(budgets, 'b', { type: 'merge', subresource: 'status', patch })
    await cluster.settle()
    expect((await client.get(budgets, 'b')).status).toMatchObject({
      currentHealthy: 1,
      disruptionsAllowed: 0,
      disruptedPods: { a: evictedAt },
    })
    await clock.advance({ minutes: 2, seconds: 2 })
    const { status } = await client.get(budgets, 'b')
    expect(status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 })
    expect(status?.disruptedPods).toBeUndefined()
  })
})
