import { resourceType } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { namesOf } from '../resources.fixture.ts'
import {
  bindPod,
  endPod,
  labels,
  podNames,
  pods,
  podsOf,
  runPod,
  runPods,
  ScriptedClock,
  startWith,
  template,
} from './workloads.fixture.ts'

interface StatefulSet extends ApiObject {
  status?: { currentRevision?: string; updateRevision?: string; [member: string]: unknown }
}

const apps = { group: 'apps', version: 'v1' }
const statefulSets = resourceType<StatefulSet>({ ...apps, resource: 'statefulsets', kind: 'StatefulSet' })
const revisions = resourceType({ ...apps, resource: 'controllerrevisions', kind: 'ControllerRevision' })
const podTemplates = resourceType({ group: '', version: 'v1', resource: 'podtemplates', kind: 'PodTemplate' })
const claims = resourceType({ group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' })

function statefulSet(spec: object = {}): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: { replicas: 3, serviceName: 'db', selector: { matchLabels: labels }, template: template(), ...spec },
  }
}

const data = {
  metadata: { name: 'data', labels: { tier: 'storage' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

const start = (spec: object = {}) => startWith(['statefulset-controller', 'garbage-collector-controller'], [statefulSet(spec)])
const statusOf = async ({ client }: TestServer) => (await client.get(statefulSets, 'db')).status ?? {}
const change = async (server: TestServer, spec: object) => {
  await server.client.patch(statefulSets, 'db', { type: 'merge', patch: { spec: spec as never } })
  await server.settle()
}
const images = async (server: TestServer) => (await podsOf(server)).map(({ spec }) => spec?.containers?.[0]?.image)
const runAll = async (server: TestServer) => {
  for (let i = 0; i < 8; i++) await runPods(server)
}

describe('stateful set controller', () => {
  it('creates pods sequentially in ordinal order', async () => {
    await using server = await start()
    expect(await podNames(server)).toEqual(['db-0'])
    const [first] = await podsOf(server)
    const { metadata } = await server.client.get(statefulSets, 'db')
    const { updateRevision } = await statusOf(server)
    expect(first).toMatchObject({
      metadata: {
        generateName: 'db-',
        labels: {
          ...labels,
          'statefulset.kubernetes.io/pod-name': 'db-0',
          'apps.kubernetes.io/pod-index': '0',
          'controller-revision-hash': updateRevision,
        },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: metadata.uid, controller: true }],
      },
      spec: { hostname: 'db-0', subdomain: 'db' },
    })
    await runPods(server)
    expect(await podNames(server)).toEqual(['db-0', 'db-1'])
    await runAll(server)
    expect(await statusOf(server)).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      currentRevision: updateRevision,
      updateRevision,
      collisionCount: 0,
    })
  })

  it('creates and deletes pods at once with parallel management', async () => {
    await using server = await start({ podManagementPolicy: 'Parallel' })
    expect(await podNames(server)).toEqual(['db-0', 'db-1', 'db-2'])
    await change(server, { replicas: 1 })
    expect(await podNames(server)).toEqual(['db-0'])
  })

  it('deletes pods in descending order, each after the one above', async () => {
    await using server = await start()
    await runAll(server)
    for (const name of await podNames(server)) await bindPod(server, name, 'node-1')
    await change(server, { replicas: 1 })
    const terminating = async () =>
      (await podsOf(server))
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name)
    expect(await terminating()).toEqual(['db-2'])
    await server.client.delete(pods, 'db-2', { gracePeriodSeconds: 0 })
    await server.settle()
    expect(await terminating()).toEqual(['db-1'])
  })

  it('recreates ended and deleted pods with the same name', async () => {
    await using server = await start({ replicas: 2 })
    await runAll(server)
    const uid = async () => (await server.client.get(pods, 'db-0')).metadata.uid
    const before = await uid()
    await endPod(server, 'db-0', 0)
    await server.settle()
    expect([await podNames(server), (await uid()) === before]).toEqual([['db-0', 'db-1'], false])
  })

  it('counts pods that become available during a sync', async () => {
    await using server = await startWith([], [statefulSet({ replicas: 1, minReadySeconds: 10 })])
    const clock = new ScriptedClock(server.clock.now())
    await using running = runControllers({ client: server.client, clock, controllers: ['statefulset-controller'] })
    await running.settled()
    await runPod(server, 'db-0')
    await running.settled()
    const availableAtMs = server.clock.now() + 10_000
    expect(await statusOf(server)).toMatchObject({ readyReplicas: 1, availableReplicas: 0 })
    clock.next.push(availableAtMs - 1)
    clock.nowMs = availableAtMs
    for (let i = 0; i < 2; i++) {
      clock.fire()
      await running.settled()
      clock.nowMs++
    }
    expect(await statusOf(server)).toMatchObject({ availableReplicas: 1 })
  })

  it('waits for minReadySeconds before the next pod', async () => {
    await using server = await start({ minReadySeconds: 10 })
    await runPods(server)
    expect(await podNames(server)).toEqual(['db-0'])
    await server.clock.advance('10s')
    expect(await podNames(server)).toEqual(['db-0', 'db-1'])
    expect(await statusOf(server)).toMatchObject({ readyReplicas: 1, availableReplicas: 1 })
  })

  it('replaces pods of an old revision from the highest down to the partition', async () => {
    await using server = await start({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } })
    await runAll(server)
    const { currentRevision } = await statusOf(server)
    await change(server, { template: template('web:2') })
    expect(await images(server)).toEqual(['web:1', 'web:1', 'web:2'])
    await runAll(server)
    expect(await images(server)).toEqual(['web:1', 'web:2', 'web:2'])
    expect(await statusOf(server)).toMatchObject({ currentRevision, currentReplicas: 1, updatedReplicas: 2 })
    await change(server, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } })
    await runAll(server)
    const { currentRevision: updated, updateRevision } = await statusOf(server)
    expect([await images(server), updated]).toEqual([['web:2', 'web:2', 'web:2'], updateRevision])
    expect(updated).not.toBe(currentRevision)
  })

  it('stops an update at a pod that does not become ready', async () => {
    await using server = await start()
    await runAll(server)
    await change(server, { template: template('web:2') })
    await runPod(server, 'db-2', { ready: false })
    await server.settle()
    expect(await images(server)).toEqual(['web:1', 'web:1', 'web:2'])
  })

  it('replaces pods only when they are deleted with OnDelete', async () => {
    await using server = await start({ updateStrategy: { type: 'OnDelete' } })
    await runAll(server)
    await change(server, { template: template('web:2') })
    expect(await images(server)).toEqual(['web:1', 'web:1', 'web:1'])
    await server.client.delete(pods, 'db-1')
    await server.settle()
    expect(await images(server)).toEqual(['web:1', 'web:2', 'web:1'])
  })

  it('keeps revisions up to the limit, and reuses the revision of an earlier template', async () => {
    await using server = await start({ replicas: 1, revisionHistoryLimit: 1 })
    await runAll(server)
    const { updateRevision: first } = await statusOf(server)
    for (const image of ['web:2', 'web:3']) {
      await change(server, { template: template(image) })
      await runAll(server)
    }
    const list = async () => (await server.client.list(revisions, { namespace: 'default' })).items
    expect((await list()).map(({ revision }) => revision).sort()).toEqual([2, 3])
    await change(server, { template: template('web:2') })
    await runAll(server)
    expect((await list()).map(({ revision }) => revision).sort()).toEqual([3, 4])
    expect((await statusOf(server)).updateRevision).not.toBe(first)
  })

  it('numbers pods from the start ordinal', async () => {
    await using server = await start({ replicas: 2, ordinals: { start: 5 } })
    await runAll(server)
    expect(await podNames(server)).toEqual(['db-5', 'db-6'])
    await change(server, { ordinals: { start: 6 } })
    await runAll(server)
    expect(await podNames(server)).toEqual(['db-6', 'db-7'])
  })

  it('creates a claim per pod and keeps it when the set shrinks', async () => {
    await using server = await start({ replicas: 2, volumeClaimTemplates: [data] })
    await runAll(server)
    const all = await server.client.list(claims, { namespace: 'default' })
    expect(namesOf(all)).toEqual(['data-db-0', 'data-db-1'])
    expect(all.items[0]?.metadata).toMatchObject({ labels: { ...labels, tier: 'storage' } })
    expect((await podsOf(server))[1]?.spec?.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-db-1' },
    })
    await change(server, { replicas: 0 })
    expect(namesOf(await server.client.list(claims, { namespace: 'default' }))).toEqual(['data-db-0', 'data-db-1'])
  })

  it('deletes claims by the retention policy', async () => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' }
    await using server = await start({ replicas: 2, volumeClaimTemplates: [data], persistentVolumeClaimRetentionPolicy })
    await runAll(server)
    const claimNames = async () => namesOf(await server.client.list(claims, { namespace: 'default' }))
    expect((await server.client.get(claims, 'data-db-0')).metadata.ownerReferences).toMatchObject([{ kind: 'StatefulSet' }])
    await change(server, { replicas: 1 })
    expect([await podNames(server), await claimNames()]).toEqual([['db-0'], ['data-db-0']])
    await server.client.delete(statefulSets, 'db', { propagationPolicy: 'Background' })
    await server.settle()
    expect([await podNames(server), await claimNames()]).toEqual([[], []])
  })
})

describe('a revision without the defaults of the server', () => {
  const older = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'db-older', namespace: 'default', labels },
    revision: 1,
    // Members are sorted, as in every revision.
    data: {
      spec: {
        template: { $patch: 'replace', metadata: { labels }, spec: { containers: [{ image: 'web:1', name: 'c' }] } },
      },
    },
  }
  const startIn = (emulate: string) => startWith(['statefulset-controller'], [older, statefulSet()], { emulate })
  const known = async (server: TestServer) => namesOf(await server.client.list(revisions, { namespace: 'default' })).length

  it('is the revision of its template, since 1.34', async () => {
    await using server = await startIn('1.34')
    expect([(await statusOf(server)).updateRevision, await known(server)]).toEqual(['db-older', 1])
    const requests = () => server.ledger.count({ resource: 'podtemplates', controllers: true })
    const before = requests()
    await change(server, { replicas: 1 })
    await runPods(server)
    expect(requests() - before).toBe(1)
    await change(server, { template: template('web:2') })
    expect([(await statusOf(server)).updateRevision === 'db-older', await known(server)]).toEqual([false, 2])
    expect((await server.client.list(podTemplates, { namespace: 'default' })).items).toEqual([])
  })

  it('is another revision before 1.34', async () => {
    await using server = await startIn('1.33')
    expect([(await statusOf(server)).updateRevision === 'db-older', await known(server)]).toEqual([false, 2])
  })
})
