import { resourceType } from '@krmkit/client'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { type Pod, pods, setPodStatus, startWith } from './workloads.fixture.ts'

interface Event extends ApiObject {
  reason?: string
  note?: string
  type?: string
  action?: string
  reportingController?: string
  series?: { count: number }
}

const nodes = resourceType<ApiObject>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const events = resourceType<Event>({ group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event' })

const coreEvents = resourceType<Event & { involvedObject?: { name?: string } }>({
  group: '',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
})
const replicaSets = resourceType<ApiObject & { spec?: object }>({
  group: 'apps',
  version: 'v1',
  resource: 'replicasets',
  kind: 'ReplicaSet',
})

interface NodeOptions {
  readonly cpu?: string
  readonly labels?: Record<string, string>
  readonly spec?: object
}

function node(name: string, { cpu = '2', labels = {}, spec = {} }: NodeOptions = {}): ApiObject {
  const amounts = { cpu, memory: '4Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { capacity: amounts, allocatable: amounts },
  } as ApiObject
}

interface PodOptions {
  readonly cpu?: string
  readonly labels?: Record<string, string>
  readonly spec?: object
}

function pod(name: string, { cpu = '100m', labels = {}, spec = {} }: PodOptions = {}): ApiObject {
  const containers = [{ name: 'c', image: 'web:1', resources: { requests: { cpu } } }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: { containers, ...spec },
  } as ApiObject
}

const start = (seed: readonly ApiObject[], controllers: readonly string[] = []) =>
  startWith(['kube-scheduler', ...controllers], seed, { server: { random: seededRandom(1) } })

const getPod = ({ client }: TestServer, name: string) => client.get(pods, name, { namespace: 'default' })
const nodeOf = async (server: TestServer, name: string) => (await getPod(server, name)).spec?.nodeName
const scheduled = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled')
const eventsOf = async ({ client }: TestServer, reason: string) =>
  (await client.list(events, { namespace: 'default' })).items.filter((event) => event.reason === reason)
const create = async (server: TestServer, ...objects: readonly ApiObject[]) => {
  for (const object of objects) await server.client.create(pods, object as Pod)
  await server.settle()
}

describe('scheduler', () => {
  it('binds a pod and records the event of kube-scheduler', async () => {
    await using server = await start([node('a'), pod('web')])
    const web = await getPod(server, 'web')
    expect(web.spec?.nodeName).toBe('a')
    expect(scheduled(web)).toMatchObject({ status: 'True' })
    expect(await eventsOf(server, 'Scheduled')).toMatchObject([
      {
        type: 'Normal',
        action: 'Binding',
        note: 'Successfully assigned default/web to a',
        reportingController: 'default-scheduler',
      },
    ])
  })

  it('ignores pods of other schedulers and gated pods', async () => {
    const gated = pod('gated', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } })
    await using server = await start([node('a'), gated, pod('other', { spec: { schedulerName: 'mine' } })])
    expect([await nodeOf(server, 'gated'), await nodeOf(server, 'other')]).toEqual([undefined, undefined])
    await server.client.patch(pods, 'gated', {
      namespace: 'default',
      type: 'json',
      patch: [{ op: 'remove', path: '/spec/schedulingGates' }],
    })
    await server.settle()
    expect(await nodeOf(server, 'gated')).toBe('a')
  })

  it('reports why no node is feasible, in the wording of kube-scheduler', async () => {
    const tainted = { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] }
    const seed = [node('a', { spec: tainted }), node('b', { spec: { unschedulable: true } }), node('c', { cpu: '500m' })]
    await using server = await start(seed)
    await create(server, pod('big', { cpu: '1' }))
    const message =
      '0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {gpu: yes}, 1 node(s) were unschedulable. ' +
      'preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.'
    expect(scheduled(await getPod(server, 'big'))).toMatchObject({ status: 'False', reason: 'Unschedulable', message })
    const managers = (await getPod(server, 'big')).metadata.managedFields?.map(({ manager }) => manager)
    expect(managers).toContain('kube-scheduler')
    expect(await eventsOf(server, 'FailedScheduling')).toMatchObject([{ type: 'Warning', action: 'Scheduling', note: message }])
  })

  it('reports that there are no nodes, and binds the pod when one is added', async () => {
    await using server = await start([pod('web')])
    expect(scheduled(await getPod(server, 'web'))?.message).toBe('no nodes available to schedule pods')
    await server.client.create(nodes, node('a'))
    await server.settle()
    expect(await nodeOf(server, 'web')).toBeUndefined()
    await server.clock.advance('1s')
    expect(await nodeOf(server, 'web')).toBe('a')
  })

  it('retries with growing backoff after relevant events', async () => {
    await using server = await start([node('a', { cpu: '1' }), pod('first', { cpu: '1' })])
    await create(server, pod('second', { cpu: '1' }))
    expect(await nodeOf(server, 'second')).toBeUndefined()
    await server.client.delete(pods, 'first', { namespace: 'default', gracePeriodSeconds: 0 })
    await server.clock.advance('1s')
    expect(await nodeOf(server, 'second')).toBe('a')
  })

  it('counts requests of init containers, sidecars and overhead', async () => {
    const requests = (cpu: string) => ({ resources: { requests: { cpu } } })
    const spec = {
      initContainers: [
        { name: 's', image: 'i', restartPolicy: 'Always', ...requests('500m') },
        { name: 'i', image: 'i', ...requests('1600m') },
      ],
    }
    await using server = await start([node('a'), pod('web', { spec })])
    expect(scheduled(await getPod(server, 'web'))?.message).toMatch(/1 Insufficient cpu/)
  })

  it('respects selectors, node affinity and host ports', async () => {
    const inZone = (zone: string) => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
        },
      },
    })
    const ports = (hostPort: number) => ({ containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort }] }] })
    await using server = await start([node('a', { labels: { zone: 'one' } }), node('b', { labels: { zone: 'two' } })])
    await create(
      server,
      pod('selected', { spec: { nodeSelector: { zone: 'two' } } }),
      pod('affine', { spec: { affinity: inZone('one') } }),
      pod('port-1', { spec: ports(80) }),
      pod('port-2', { spec: ports(80) }),
      pod('port-3', { spec: ports(80) }),
    )
    expect([await nodeOf(server, 'selected'), await nodeOf(server, 'affine')]).toEqual(['b', 'a'])
    expect(new Set([await nodeOf(server, 'port-1'), await nodeOf(server, 'port-2')])).toEqual(new Set(['a', 'b']))
    expect(scheduled(await getPod(server, 'port-3'))?.message).toMatch(
      /^0\/2 nodes are available: 2 node\(s\) didn't have free ports for the requested pod ports\./,
    )
  })

  it('places pods together by affinity and apart by anti-affinity', async () => {
    const term = (app: string) => ({ labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' })
    const required = (app: string) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term(app)] })
    await using server = await start([node('a'), node('b')])
    await create(server, pod('db', { labels: { app: 'db' }, spec: { affinity: { podAntiAffinity: required('db') } } }))
    await create(server, pod('web', { spec: { affinity: { podAffinity: required('db') } } }))
    await create(server, pod('db-2', { labels: { app: 'db' }, spec: { affinity: { podAntiAffinity: required('db') } } }))
    await create(server, pod('db-3', { labels: { app: 'db' } }))
    expect(await nodeOf(server, 'web')).toBe(await nodeOf(server, 'db'))
    expect(await nodeOf(server, 'db-2')).not.toBe(await nodeOf(server, 'db'))
    expect(scheduled(await getPod(server, 'db-3'))?.message).toMatch(
      "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.",
    )
  })

  it('spreads pods over zones within the skew', async () => {
    const zones = ['one', 'one', 'two'].map((zone, index) => node(`n${index}`, { labels: { zone } }))
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }
    const spec = { topologySpreadConstraints: [{ ...constraint, labelSelector: { matchLabels: { app: 'web' } } }] }
    await using server = await start(zones)
    for (let i = 0; i < 6; i++) await create(server, pod(`web-${i}`, { labels: { app: 'web' }, spec }))
    const { items } = await server.client.list(pods, { namespace: 'default' })
    expect(items.filter(({ spec: { nodeName } = {} }) => nodeName === 'n2')).toHaveLength(3)
  })

  it('spreads the pods of a replica set over hosts by default', async () => {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const set = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 6, selector: { matchLabels: { app: 'web' } }, template },
    }
    await using server = await start([node('a'), node('b'), node('c'), set as ApiObject], ['replicaset-controller'])
    const { items } = await server.client.list(pods, { namespace: 'default' })
    expect(items.map(({ spec }) => spec?.nodeName).sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  })

  it('prefers nodes by weight, and avoids PreferNoSchedule taints', async () => {
    const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } }]
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } }
    const taints = [{ key: 'busy', effect: 'PreferNoSchedule' }]
    await using server = await start([node('a', { spec: { taints } }), node('b'), node('c', { labels: { disk: 'ssd' } })])
    await create(server, pod('web', { spec: { affinity } }))
    expect(await nodeOf(server, 'web')).toBe('c')
    await server.client.delete(nodes, 'c')
    await create(server, pod('plain'))
    expect(await nodeOf(server, 'plain')).toBe('b')
  })

  it('preempts pods of lower priority, those without a disruption budget first', async () => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guard', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    } as ApiObject
    await using server = await start([budget, node('a', { cpu: '1' }), node('b', { cpu: '1' })])
    await create(server, pod('guarded', { cpu: '1', labels: { app: 'guarded' } }), pod('free', { cpu: '1' }))
    await setPodStatus(server, 'free', { startTime: '2024-01-01T00:00:00Z' })
    await create(server, pod('polite', { cpu: '1', spec: { priority: 1000, preemptionPolicy: 'Never' } }))
    expect(scheduled(await getPod(server, 'polite'))?.message).toBe(
      '0/2 nodes are available: 2 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.',
    )
    const freeNode = await nodeOf(server, 'free')
    await create(server, pod('urgent', { cpu: '1', spec: { priority: 1000 } }))
    const urgent = await getPod(server, 'urgent')
    expect(urgent.status?.nominatedNodeName).toBe(freeNode)
    expect(scheduled(urgent)?.message).toBe('0/2 nodes are available: 2 Insufficient cpu.')
    const victim = await getPod(server, 'free')
    expect(victim.metadata.deletionTimestamp).toBeDefined()
    expect(victim.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        reason: 'PreemptionByScheduler',
        message: 'default-scheduler: preempting to accommodate a higher priority pod',
      }),
    )
    expect((await getPod(server, 'guarded')).metadata.deletionTimestamp).toBeUndefined()
    expect(await eventsOf(server, 'Preempted')).toMatchObject([
      { note: `Preempted by pod ${urgent.metadata.uid} on node ${freeNode}` },
    ])
    await server.client.delete(pods, 'free', { namespace: 'default', gracePeriodSeconds: 0 })
    await server.clock.advance('5s')
    expect(await nodeOf(server, 'urgent')).toBe(freeNode)
    expect(await nodeOf(server, 'polite')).toBeUndefined()
  })

  it('reserves the resources freed by preemption for the nominated pod', async () => {
    const capacity = { cpu: '10', memory: '8Gi', pods: '110' }
    await using server = await createTestServer({
      cluster: { nodes: [{ name: 'a', capacity }] },
      server: { random: seededRandom(1) },
    })
    const replicaSet = (name: string, priority: number, cpu: string) => {
      const labels = { app: name }
      const { spec } = pod(name, { cpu, spec: { priority } })
      const template = { metadata: { labels }, spec: spec as object }
      return { metadata: { name, namespace: 'default' }, spec: { selector: { matchLabels: labels }, template } }
    }
    for (const [name, priority, cpu] of [
      ['one', 1, '2'],
      ['two', 2, '3'],
      ['three', 3, '4500m'],
    ] as const)
      await server.client.create(replicaSets, replicaSet(name, priority, cpu))
    await server.settle()
    // The scheduler cannot write the nominated node, and must keep it in memory.
    const nomination = { user: 'system:kube-controller-manager', verb: 'patch', subresource: 'status', name: 'urgent' }
    server.faults.next(nomination, { fail: 500 }, { after: 1 })
    await create(server, pod('urgent', { cpu: '5', spec: { priority: 4 } }))
    await server.clock.advance('1m')
    expect(await nodeOf(server, 'urgent')).toBe('a')
    const { items } = await server.client.list(coreEvents, { namespace: 'default' })
    const created = items.filter(({ reason }) => reason === 'SuccessfulCreate').map(({ involvedObject }) => involvedObject?.name)
    expect(created.sort()).toEqual(['one', 'one', 'three', 'two', 'two'])
  })

  it('waits for claims: immediate ones must be bound, others are bound to the node', async () => {
    const storageClass = (name: string, mode: string) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: mode,
    })
    const claim = (name: string, storageClassName: string) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    const required = {
      nodeSelectorTerms: [
        { matchFields: [], matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }] },
      ],
    }
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: {
        storageClassName: 'local',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        local: { path: '/disk' },
        nodeAffinity: { required },
      },
    }
    const uses = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })
    const seed = [
      ...[storageClass('local', 'WaitForFirstConsumer'), storageClass('now', 'Immediate')],
      ...[volume, claim('data', 'local'), claim('never', 'now'), claim('more', 'local')],
    ] as unknown as ApiObject[]
    await using server = await start([...seed, node('a'), node('b')], ['persistentvolume-binder-controller'])
    await create(
      server,
      pod('waits', { spec: uses('never') }),
      pod('missing', { spec: uses('nothing') }),
      pod('db', { spec: uses('data') }),
    )
    const unhelpful = ' preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.'
    expect(scheduled(await getPod(server, 'waits'))?.message).toBe(
      `0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.${unhelpful}`,
    )
    expect(scheduled(await getPod(server, 'missing'))?.message).toBe(
      `0/2 nodes are available: persistentvolumeclaim "nothing" not found.${unhelpful}`,
    )
    expect(await nodeOf(server, 'db')).toBe('b')
    await create(server, pod('late', { spec: uses('more') }))
    expect(scheduled(await getPod(server, 'late'))?.message).toBe(
      `0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.${unhelpful}`,
    )
  })

  it('releases the node of a pod whose claims are not bound within ten minutes', async () => {
    const metadata = { name: 'slow' }
    const slow = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata, provisioner: 'example.com/none' }
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { storageClassName: 'slow', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const seed = [{ ...slow, volumeBindingMode: 'WaitForFirstConsumer' }, claim, node('a')] as unknown as ApiObject[]
    await using server = await start(seed, ['persistentvolume-binder-controller'])
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
    await create(server, pod('db', { cpu: '2', spec: { volumes } }))
    await create(server, pod('web', { cpu: '2' }))
    await server.clock.advance('9m59s')
    expect(await nodeOf(server, 'web')).toBeUndefined()
    await server.clock.advance('10s')
    expect(await nodeOf(server, 'web')).toBe('a')
    expect(await nodeOf(server, 'db')).toBeUndefined()
    const message = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    expect((await eventsOf(server, 'FailedScheduling')).map(({ note }) => note)).toContain(message)
    expect(scheduled(await getPod(server, 'db'))?.message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    )
  })
})
