import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { bindPod, podNames, pods, podsOf, runPods } from './workloads.fixture.ts'

interface Condition {
  type: string
  status: string
  reason: string
}
interface Deployment extends ApiObject {
  spec?: { replicas?: number; template?: object; paused?: boolean }
  status?: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; conditions?: Condition[] }
}
interface ReplicaSet extends ApiObject {
  spec?: { replicas?: number }
}

const apps = { group: 'apps', version: 'v1' }
const deployments = resourceType<Deployment>({ ...apps, resource: 'deployments', kind: 'Deployment' })
const replicaSets = resourceType<ReplicaSet>({ ...apps, resource: 'replicasets', kind: 'ReplicaSet' })
const labels = { app: 'web' }
const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } })

function deployment(spec: object = {}): ApiObject {
  const base = { replicas: 4, selector: { matchLabels: labels }, template: template('web:1') }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: { ...base, ...spec },
  }
}

const start = (...seed: ApiObject[]) => createTestServer({ seed, controllers: ['*'] })

async function setsOf({ client }: TestServer): Promise<ReplicaSet[]> {
  const { items } = await client.list(replicaSets, { namespace: 'default' })
  return items.sort((a, b) => revisionOf(a) - revisionOf(b))
}

const revisionOf = ({ metadata }: ApiObject) => Number(metadata.annotations?.['deployment.kubernetes.io/revision'])
const counts = (sets: readonly ReplicaSet[]) => sets.map((set) => [revisionOf(set), set.spec?.replicas])

/** Simulates the replica set controller, scheduler and nodes: all pods run, or none of the newest set. */
async function run(server: TestServer, { healthy = true } = {}): Promise<void> {
  for (const set of await setsOf(server)) {
    const replicas = set.spec?.replicas ?? 0
    const ready = healthy || revisionOf(set) === 1 ? replicas : 0
    const status = { replicas, readyReplicas: ready, availableReplicas: ready, observedGeneration: set.metadata.generation ?? 0 }
    await server.client.patch(replicaSets, set.metadata.name ?? '', { type: 'merge', subresource: 'status', patch: { status } })
  }
  await server.settle()
}

/** Repeats `run` until nothing changes. */
async function runAll(server: TestServer): Promise<void> {
  for (let i = 0; i < 12; i++) await run(server)
}

const change = (server: TestServer, spec: object) =>
  server.client.patch(deployments, 'web', { type: 'merge', patch: { spec: spec as never } })
const conditionsOf = async ({ client }: TestServer) =>
  (await client.get(deployments, 'web')).status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)

describe('deployment controller', () => {
  it('creates a replica set for the template and reports completion', async () => {
    await using server = await start(deployment())
    await server.settle()
    const [set, ...others] = await setsOf(server)
    expect([set?.spec?.replicas, others]).toEqual([4, []])
    expect(set?.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]+$/)
    expect(set?.metadata.annotations).toEqual({
      'deployment.kubernetes.io/desired-replicas': '4',
      'deployment.kubernetes.io/max-replicas': '5',
      'deployment.kubernetes.io/revision': '1',
    })
    const made = await server.client.get(deployments, 'web')
    expect(set?.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'web',
        uid: made.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect([revisionOf(made), made.status?.observedGeneration]).toEqual([1, 1])
    expect(await conditionsOf(server)).toEqual([
      'Progressing True NewReplicaSetCreated',
      'Available False MinimumReplicasUnavailable',
    ])
    await run(server)
    expect((await server.client.get(deployments, 'web')).status).toMatchObject({
      replicas: 4,
      updatedReplicas: 4,
      availableReplicas: 4,
    })
    expect(await conditionsOf(server)).toEqual([
      'Available True MinimumReplicasAvailable',
      'Progressing True NewReplicaSetAvailable',
    ])
  })

  it('counts replicas without pods as unavailable', async () => {
    await using server = await start(deployment())
    await server.settle()
    expect((await server.client.get(deployments, 'web')).status).toMatchObject({ unavailableReplicas: 4 })
  })

  it('continues the revision numbers of adopted sets, however large', async () => {
    const annotations = { 'deployment.kubernetes.io/revision': '3546343826724305832' }
    const adopted = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'old', namespace: 'default', labels, annotations },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: template('web:0') },
    }
    await using server = await start(adopted, deployment())
    await server.settle()
    const { metadata } = await server.client.get(deployments, 'web')
    expect(metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3546343826724305833')
  })

  it('adds up the terminating pods of its sets since 1.35, where all of them count theirs', async () => {
    await using server = await createTestServer({ seed: [deployment({ replicas: 0 })], controllers: ['*'], emulate: '1.37' })
    await server.settle()
    const status = async () => (await server.client.get(deployments, 'web')).status
    expect(await status()).toMatchObject({ terminatingReplicas: 0 })
    const [set] = await setsOf(server)
    const report = async (counts: { terminatingReplicas: number | null }) => {
      const status = { replicas: 0, observedGeneration: 1, ...counts }
      await server.client.patch(replicaSets, set?.metadata.name ?? '', {
        type: 'merge',
        subresource: 'status',
        patch: { status },
      })
      await server.settle()
    }
    await report({ terminatingReplicas: 2 })
    expect(await status()).toMatchObject({ terminatingReplicas: 2 })
    await report({ terminatingReplicas: null })
    expect(await status()).not.toHaveProperty('terminatingReplicas')
  })

  it('completes a deployment of zero replicas immediately', async () => {
    await using server = await start(deployment({ replicas: 0 }))
    await server.settle()
    expect((await server.client.get(deployments, 'web')).status).toEqual({ observedGeneration: 1, conditions: expect.any(Array) })
    expect(await conditionsOf(server)).toContain('Progressing True NewReplicaSetAvailable')
  })

  it('rolls out and back within the limits of the strategy', async () => {
    await using server = await start(deployment({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }))
    await server.settle()
    await run(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([
      [1, 4],
      [2, 1],
    ])
    await run(server)
    expect(counts(await setsOf(server))).toEqual([
      [1, 3],
      [2, 2],
    ])
    await runAll(server)
    expect(counts(await setsOf(server))).toEqual([
      [1, 0],
      [2, 4],
    ])
    await change(server, { template: template('web:1') })
    await runAll(server)
    const sets = await setsOf(server)
    expect(counts(sets)).toEqual([
      [2, 0],
      [3, 4],
    ])
    expect(sets[1]?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1')
    expect(revisionOf(await server.client.get(deployments, 'web'))).toBe(3)
  })

  it('stops when new pods do not become available, and reports it after the deadline', async () => {
    await using server = await start(
      deployment({ progressDeadlineSeconds: 60, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }),
    )
    await server.settle()
    await run(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    for (let i = 0; i < 5; i++) await run(server, { healthy: false })
    expect(counts(await setsOf(server))).toEqual([
      [1, 3],
      [2, 2],
    ])
    await server.clock.advance({ seconds: 61 })
    await server.settle()
    expect(await conditionsOf(server)).toContain('Progressing False ProgressDeadlineExceeded')
  })

  it('removes old pods before creating new ones with Recreate', async () => {
    await using server = await start(deployment({ strategy: { type: 'Recreate' } }))
    await server.settle()
    await run(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([[1, 0]])
    await run(server)
    expect(counts(await setsOf(server))).toEqual([
      [1, 0],
      [2, 4],
    ])
  })

  it('waits with Recreate until old pods have terminated', async () => {
    const controllers = ['*', 'replicaset-controller']
    await using server = await createTestServer({
      seed: [deployment({ replicas: 1, strategy: { type: 'Recreate' } })],
      controllers,
    })
    const [name = ''] = await podNames(server)
    await bindPod(server, name, 'node-1')
    await runPods(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([[1, 0]])
    await server.client.delete(pods, name, { gracePeriodSeconds: 0 })
    await server.settle()
    await runPods(server)
    expect(counts(await setsOf(server))).toEqual([
      [1, 0],
      [2, 1],
    ])
    expect(await conditionsOf(server)).toContain('Progressing True NewReplicaSetAvailable')
  })

  it('rolls out pods with the replica set controller', async () => {
    await using server = await createTestServer({ seed: [deployment()], controllers: ['*', 'replicaset-controller'] })
    await runPods(server)
    await change(server, { template: template('web:2') })
    for (let i = 0; i < 6; i++) {
      await server.settle()
      await runPods(server)
    }
    const images = (await podsOf(server)).map(({ spec }) => spec?.containers?.[0]?.image)
    expect(images).toEqual(['web:2', 'web:2', 'web:2', 'web:2'])
    const { status } = await server.client.get(deployments, 'web')
    expect(status).toMatchObject({ replicas: 4, updatedReplicas: 4, availableReplicas: 4 })
  })

  it('reports that a replica set cannot create pods', async () => {
    await using server = await start(deployment())
    const [set] = await setsOf(server)
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no' }
    const status = { replicas: 0, conditions: [failure] }
    await server.client.patch(replicaSets, set?.metadata.name ?? '', { type: 'merge', subresource: 'status', patch: { status } })
    await server.settle()
    expect(await conditionsOf(server)).toContain('ReplicaFailure True FailedCreate')
    await run(server)
    const cleared = { status: { conditions: null } }
    await server.client.patch(replicaSets, set?.metadata.name ?? '', { type: 'merge', subresource: 'status', patch: cleared })
    await server.settle()
    expect(await conditionsOf(server)).not.toContain('ReplicaFailure True FailedCreate')
  })

  it('scales the active set, and all sets proportionally during a rollout', async () => {
    await using server = await start(
      deployment({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
    )
    await server.settle()
    await run(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([
      [1, 8],
      [2, 5],
    ])
    await change(server, { replicas: 15 })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([
      [1, 11],
      [2, 7],
    ])
    await change(server, { replicas: 0 })
    await runAll(server)
    expect((await setsOf(server)).map(({ spec }) => spec?.replicas)).toEqual([0, 0])
  })

  it('continues the rollout when scaling changes no set', async () => {
    const strategy = (maxSurge: number) => ({ rollingUpdate: { maxSurge, maxUnavailable: 2 } })
    await using server = await start(deployment({ replicas: 10, strategy: strategy(3) }))
    await server.settle()
    await run(server)
    await change(server, { template: template('web:2') })
    await server.settle()
    // The smaller surge allows the existing number of pods.
    await change(server, { replicas: 11, strategy: strategy(2) })
    await server.settle()
    await change(server, { template: template('web:3') })
    await runAll(server)
    expect(counts(await setsOf(server)).at(-1)).toEqual([3, 11])
  })

  it('rolls back to the annotated or the previous revision', async () => {
    const mark = 'deprecated.deployment.rollback.to'
    await using server = await start(deployment())
    await runAll(server)
    for (const image of ['web:2', 'web:3']) {
      await change(server, { template: template(image) })
      await runAll(server)
    }
    const goTo = async (revision: string) => {
      await server.client.patch(deployments, 'web', { type: 'merge', patch: { metadata: { annotations: { [mark]: revision } } } })
      await runAll(server)
      const { metadata, spec } = await server.client.get(deployments, 'web')
      expect(metadata.annotations).not.toHaveProperty(mark)
      expect(JSON.stringify(spec)).not.toContain('pod-template-hash')
      return [JSON.stringify(spec).match(/web:\d/)?.[0], metadata.annotations?.['deployment.kubernetes.io/revision']]
    }
    expect(await goTo('0')).toEqual(['web:2', '4'])
    expect(await goTo('1')).toEqual(['web:1', '5'])
    expect(await goTo('77')).toEqual(['web:1', '5'])
    expect((await setsOf(server)).map(({ metadata }) => metadata.annotations?.[mark])).toEqual([undefined, undefined, undefined])
  })

  it('scales a paused deployment without rolling out', async () => {
    await using server = await start(deployment())
    await server.settle()
    await run(server)
    await change(server, { paused: true, replicas: 6, template: template('web:2') })
    await server.settle()
    expect(counts(await setsOf(server))).toEqual([[1, 6]])
    expect(await conditionsOf(server)).toContain('Progressing Unknown DeploymentPaused')
    await change(server, { paused: false })
    await runAll(server)
    expect(counts(await setsOf(server))).toEqual([
      [1, 0],
      [2, 6],
    ])
  })

  it('respects the revision history limit', async () => {
    await using server = await start(deployment({ revisionHistoryLimit: 1 }))
    await runAll(server)
    for (const image of ['web:2', 'web:3', 'web:4']) {
      await change(server, { template: template(image) })
      await runAll(server)
    }
    expect(counts(await setsOf(server))).toEqual([
      [3, 0],
      [4, 4],
    ])
  })

  it('adopts matching sets, releases others, and ignores sets with another controller', async () => {
    const set = (name: string, metadata: object = {}) => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, namespace: 'default', labels, ...metadata },
      spec: { replicas: 4, selector: { matchLabels: labels }, template: template('web:1') },
    })
    const other = { apiVersion: 'example.com/v1', kind: 'Other', name: 'o', uid: 'other', controller: true }
    await using server = await start(set('free'), set('taken', { ownerReferences: [other] }), deployment())
    await server.settle()
    const owner = async (name: string) => (await server.client.get(replicaSets, name)).metadata.ownerReferences?.[0]?.kind
    expect([await owner('free'), await owner('taken')]).toEqual(['Deployment', 'Other'])
    expect((await setsOf(server)).length).toBe(2)
    await server.client.patch(replicaSets, 'free', { type: 'merge', patch: { metadata: { labels: { app: 'else' } } } })
    await server.settle()
    expect(await owner('free')).toBeUndefined()
    expect((await setsOf(server)).length).toBe(3)
  })

  it('is disabled in a test server by default', async () => {
    await using server = await createTestServer({ seed: [deployment()] })
    await server.settle()
    expect([await setsOf(server), (await server.client.get(deployments, 'web')).status]).toEqual([[], {}])
  })
})
