import { resourceType } from '@krmkit/client'
import type { MatchedBehavior } from '@krmkit/controllers'
import { type ApiObject, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { type Pod, pods } from './workloads.fixture.ts'

interface Workload extends ApiObject {
  spec?: object
  status?: {
    readyReplicas?: number
    succeeded?: number
    conditions?: { type: string; status: string }[]
    [member: string]: unknown
  }
}

interface Event extends ApiObject {
  reason?: string
  message?: string
}

const deployments = resourceType<Workload>({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' })
const events = resourceType<Event>({ group: '', version: 'v1', resource: 'events', kind: 'Event' })
const nodes = resourceType<Workload>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })
const leases = resourceType<ApiObject & { spec?: { renewTime?: string } }>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
})

const start = (behaviors: readonly MatchedBehavior[] = [], options: TestServerOptions = {}) =>
  createTestServer({
    cluster: { nodes: 3, behaviors },
    startAtMs: Date.UTC(2024, 0, 1),
    server: { random: seededRandom(1) },
    ...options,
  })

const container = { name: 'c', image: 'web:1' }
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } }
const getPod = ({ client }: TestServer, name = 'web') => client.get(pods, name, { namespace: 'default' })

async function run(server: TestServer, spec: object = {}, annotations: Record<string, string> = {}): Promise<Pod> {
  const metadata = { name: 'web', namespace: 'default', annotations }
  await server.client.create(pods, { metadata, spec: { containers: [container], ...spec } })
  await server.settle()
  return getPod(server)
}

const stateOf = ({ status }: Pod) => (status?.containerStatuses?.[0] as { state: object } | undefined)?.state
const statusOf = ({ status }: Pod) => status?.containerStatuses?.[0]
const condition = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type)?.status

describe('simulated nodes', () => {
  it('register with capacity, addresses, conditions and leases', async () => {
    await using server = await start()
    const { items } = await server.client.list(nodes)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['node-1', 'node-2', 'node-3'])
    expect(items[0]).toMatchObject({
      metadata: { labels: { 'kubernetes.io/hostname': 'node-1' } },
      status: {
        allocatable: { cpu: '4', pods: '110' },
        addresses: [
          { type: 'InternalIP', address: '172.18.0.2' },
          { type: 'Hostname', address: 'node-1' },
        ],
      },
    })
    await server.clock.advance('30s')
    const lease = await server.client.get(leases, 'node-1', { namespace: 'kube-node-lease' })
    expect(lease.spec?.renewTime).toBe('2024-01-01T00:00:30.000000Z')
  })

  it('run a deployment until it is available, without errors of controllers', async () => {
    const errors: unknown[] = []
    await using server = await start([], { onError: (error) => errors.push(error) })
    const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template }
    await server.client.create(deployments, { metadata: { name: 'web', namespace: 'default' }, spec })
    await server.settle()
    const { status } = await server.client.get(deployments, 'web', { namespace: 'default' })
    expect(status).toMatchObject({ readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 })
    const { items } = await server.client.list(pods, { namespace: 'default' })
    expect(items.map(({ spec: { nodeName } = {} }) => nodeName).sort()).toEqual(['node-1', 'node-2', 'node-3'])
    expect(errors).toEqual([])
  })

  it('run only the controllers that are not excluded, by name or alias', async () => {
    await using server = await start([], { controllers: ['*', '-replicaset'] })
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
    await server.client.create(deployments, { metadata: { name: 'web', namespace: 'default' }, spec })
    await server.settle()
    expect((await server.client.list(pods, { namespace: 'default' })).items).toEqual([])
  })

  it('report a running pod with the fields of a kubelet', async () => {
    await using server = await start()
    const pod = await run(server)
    expect(pod.status).toMatchObject({
      phase: 'Running',
      startTime: '2024-01-01T00:00:00Z',
      podIP: expect.stringMatching(/^10\.244\.\d\.2$/),
      hostIP: expect.stringMatching(/^172\.18\.\d\.2$/),
      qosClass: 'BestEffort',
      containerStatuses: [
        {
          name: 'c',
          image: 'web:1',
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: '2024-01-01T00:00:00Z' } },
          lastState: {},
        },
      ],
    })
    for (const type of ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'])
      expect([type, condition(pod, type)]).toEqual([type, 'True'])
    const recorded = await server.client.list(events, { namespace: 'default' })
    expect(recorded.items.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['Scheduled', 'Pulled', 'Created', 'Started']),
    )
  })

  it('start, become ready and exit at the times of their behaviour', async () => {
    await using server = await start([{ startAfterMs: 5000, readyAfterMs: 10_000, exitAfterMs: 60_000, exitCode: 3 }])
    const pod = await run(server, { restartPolicy: 'Never' })
    expect([pod.status?.phase, stateOf(pod)]).toEqual(['Pending', { waiting: { reason: 'ContainerCreating' } }])
    await server.clock.advance('5s')
    expect([(await getPod(server)).status?.phase, condition(await getPod(server), 'Ready')]).toEqual(['Running', 'False'])
    await server.clock.advance('10s')
    const ready = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2024-01-01T00:00:15Z' }
    expect((await getPod(server)).status?.conditions).toContainEqual(ready)
    await server.clock.advance('1m')
    const ended = await getPod(server)
    expect(ended.status?.phase).toBe('Failed')
    expect(stateOf(ended)).toMatchObject({ terminated: { exitCode: 3, reason: 'Error', finishedAt: '2024-01-01T00:01:05Z' } })
  })

  it('restart crashing containers with the backoff of the kubelet', async () => {
    await using server = await start()
    await run(server, {}, { 'simulation.krmkit.dev/crashes': '3', 'simulation.krmkit.dev/exit-code': '2' })
    await server.clock.advance('4s')
    const pod = await getPod(server)
    expect(statusOf(pod)).toMatchObject({
      restartCount: 1,
      state: {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: `back-off 10s restarting failed container=c pod=web_default(${pod.metadata.uid})`,
        },
      },
      lastState: { terminated: { exitCode: 2 } },
    })
    expect(pod.status?.phase).toBe('Running')
    await server.clock.advance('2m')
    expect(statusOf(await getPod(server))).toMatchObject({ restartCount: 3, ready: true })
  })

  it('fail to pull an image, and back off', async () => {
    await using server = await start([{ match: { image: /^web:/ }, pullError: 'not found' }])
    const pod = await run(server)
    expect(stateOf(pod)).toEqual({ waiting: { reason: 'ErrImagePull', message: 'not found' } })
    await server.clock.advance('2s')
    expect(stateOf(await getPod(server))).toEqual({
      waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "web:1": ErrImagePull: not found' },
    })
  })

  it('run init containers sequentially, and sidecars alongside the containers', async () => {
    const behaviors = [{ match: { container: 'first' }, exitAfterMs: 5000 }]
    await using server = await start(behaviors)
    const initContainers = [
      { name: 'first', image: 'i' },
      { name: 'sidecar', image: 'i', restartPolicy: 'Always' },
      { name: 'second', image: 'i' },
    ]
    const pod = await run(server, { initContainers })
    expect(pod.status?.phase).toBe('Pending')
    expect(stateOf(pod)).toEqual({ waiting: { reason: 'PodInitializing' } })
    await server.clock.advance('5s')
    const running = await getPod(server)
    expect([running.status?.phase, condition(running, 'Ready')]).toEqual(['Running', 'True'])
    expect(running.status).toMatchObject({
      initContainerStatuses: [
        { name: 'first', ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
        { name: 'sidecar', ready: true, state: { running: {} } },
        { name: 'second', ready: true, state: { terminated: { exitCode: 0 } } },
      ],
    })
  })

  it('follow commands that sleep, echo and exit', async () => {
    await using server = await start([{ match: { command: /^migrate / }, exitAfterMs: 3000, exitCode: 4 }])
    const last = (name: string, command: string[]) => ({ name, image: 'busybox', command })
    const containers = [
      last('sleeps', ['sleep', '5']),
      last('fails', ['sh', '-c', 'echo starting; sleep 2; exit 3']),
      last('migrates', ['migrate', '--all']),
      { ...last('serves', ['nginx']), ports: [{ containerPort: 80 }] },
    ]
    await run(server, { restartPolicy: 'Never', initContainers: [last('first', ['/bin/false'])], containers })
    const refused = await getPod(server)
    expect(refused.status?.phase).toBe('Failed')
    await server.client.delete(pods, 'web', { namespace: 'default', gracePeriodSeconds: 0 })
    await server.settle()
    await run(server, { restartPolicy: 'Never', containers })
    await server.clock.advance('10s')
    const codes = (await getPod(server)).status?.containerStatuses?.map(
      (each) => (each as { state?: { terminated?: { exitCode: number } } }).state?.terminated?.exitCode,
    )
    expect(codes).toEqual([0, 3, 4, undefined])
    const log = await server.client.request({ path: '/api/v1/namespaces/default/pods/web/log?container=fails' })
    expect(await log.text()).toBe('starting\n')
  })

  it('remove a deleted pod when its containers have stopped', async () => {
    await using server = await start([{ stopAfterMs: 7000 }])
    await run(server)
    await server.client.delete(pods, 'web', { namespace: 'default' })
    await server.clock.advance('6s')
    expect((await getPod(server)).metadata.deletionTimestamp).toBeDefined()
    await server.clock.advance('1s')
    await expect(getPod(server)).rejects.toMatchObject({ reason: 'NotFound' })
  })

  it('serve the metrics and pods endpoints of their kubelet', async () => {
    await using server = await start([], { cluster: { nodes: 1, behaviors: [{ usage: { cpu: '250m', memory: '64Mi' } }] } })
    await run(server)
    await server.clock.advance('20s')
    const text = async (path: string) =>
      (await server.client.request({ path: `/api/v1/nodes/node-1:10250/proxy/${path}` })).text()
    const metrics = await text('metrics/resource')
    for (const line of [
      'container_cpu_usage_seconds_total{container="c",namespace="default",pod="web"} 5',
      'container_memory_working_set_bytes{container="c",namespace="default",pod="web"} 67108864',
      `container_start_time_seconds{container="c",namespace="default",pod="web"} ${Date.UTC(2024, 0, 1) / 1000}`,
      'pod_cpu_usage_seconds_total{namespace="default",pod="web"} 5',
      'pod_memory_working_set_bytes{namespace="default",pod="web"} 67108864',
      'node_cpu_usage_seconds_total 5',
      'node_memory_working_set_bytes 67108864',
      'resource_scrape_error 0',
    ])
      expect(metrics.split('\n')).toContain(line)
    expect((await text('metrics')).split('\n')).toEqual([
      '# TYPE kubelet_node_name gauge',
      'kubelet_node_name{node="node-1"} 1',
      '# TYPE kubelet_running_containers gauge',
      'kubelet_running_containers{container_state="running"} 1',
      '# TYPE kubelet_running_pods gauge',
      'kubelet_running_pods 1',
      '',
    ])
    const list = JSON.parse(await text('pods'))
    expect(list).toMatchObject({
      kind: 'PodList',
      apiVersion: 'v1',
      items: [{ metadata: { name: 'web' }, status: { phase: 'Running' } }],
    })
  })

  it('wait for readiness gates', async () => {
    await using server = await start()
    const pod = await run(server, { readinessGates: [{ conditionType: 'example.com/open' }] })
    expect(condition(pod, 'Ready')).toBe('False')
    const patch = { status: { conditions: [{ type: 'example.com/open', status: 'True' }] } }
    await server.client.patch(pods, 'web', { namespace: 'default', type: 'strategic', subresource: 'status', patch })
    await server.settle()
    expect(condition(await getPod(server), 'Ready')).toBe('True')
  })

  it('make the extended resources of their capacity allocatable', async () => {
    await using server = await start()
    const name = 'example.com/gpu'
    const change = async (status: object) => {
      await server.client.patch(nodes, 'node-1', { type: 'merge', subresource: 'status', patch: { status } as never })
      await server.settle()
      return (await server.client.get(nodes, 'node-1')).status as { allocatable: Record<string, string> }
    }
    expect((await change({ capacity: { [name]: '2' } })).allocatable).toMatchObject({ [name]: '2', cpu: '4' })
    expect((await change({ capacity: { [name]: '3' } })).allocatable[name]).toBe('3')
    expect((await change({ capacity: { [name]: null } })).allocatable).not.toHaveProperty([name])
  })

  it('become unreachable when they fail, and recover', async () => {
    await using server = await start()
    const { spec } = await run(server)
    const node = spec?.nodeName ?? ''
    const ready = async () =>
      (await server.client.get(nodes, node)).status?.conditions?.find(({ type }) => type === 'Ready')?.status
    server.failNode(node)
    await server.clock.advance('2m')
    expect(await ready()).toBe('Unknown')
    server.recoverNode(node)
    await server.settle()
    expect(await ready()).toBe('True')
    expect(() => server.failNode('other')).toThrow('unknown node "other"; nodes: node-1, node-2, node-3')
  })

  it('keep running in a fork and after a reset', async () => {
    await using server = await start([], {
      seed: [
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'web', namespace: 'default' },
          spec: { containers: [container] },
        } as ApiObject,
      ],
    })
    const before = await getPod(server)
    await using fork = server.fork()
    await fork.settle()
    expect((await getPod(fork)).status).toEqual(before.status)
    await fork.client.delete(pods, 'web', { namespace: 'default' })
    await fork.settle()
    await expect(getPod(fork)).rejects.toMatchObject({ reason: 'NotFound' })
    await server.reset()
    await server.settle()
    expect((await getPod(server)).status).toEqual(before.status)
  })

  it('end pods that are active for longer than their deadline', async () => {
    await using server = await start([{ match: { name: 'slow' }, stopAfterMs: 5000 }])
    await run(server, { activeDeadlineSeconds: 60 })
    const slow = { containers: [container], activeDeadlineSeconds: 60 }
    await server.client.create(pods, { metadata: { name: 'slow', namespace: 'default' }, spec: slow })
    await server.clock.advance('59s')
    expect((await getPod(server)).status?.phase).toBe('Running')
    await server.clock.advance('2s')
    const message = 'Pod was active on the node longer than the specified deadline'
    expect((await getPod(server)).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message })
    expect(stateOf(await getPod(server))).toHaveProperty('terminated')
    expect((await getPod(server, 'slow')).status?.phase).toBe('Running')
    await server.clock.advance('5s')
    expect((await getPod(server, 'slow')).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' })
    await server.clock.advance('10m')
    const { items } = await server.client.list(events, { namespace: 'default' })
    expect(items.filter(({ reason }) => reason === 'DeadlineExceeded').map((event) => event.message)).toEqual([message, message])
  })

  it('serve the log of the previous run of a container', async () => {
    await using server = await start([{ crashes: 1, exitAfterMs: 1000, logs: ({ restarts }) => `run ${restarts}\n` }])
    await run(server)
    const log = async (query: string) => {
      const response = await server.client.request({ path: `/api/v1/namespaces/default/pods/web/log${query}` })
      return { status: response.status, text: await response.text() }
    }
    expect(await log('?previous=true')).toMatchObject({
      status: 400,
      text: expect.stringContaining('previous terminated container \\"c\\" in pod \\"web\\" not found'),
    })
    await server.clock.advance('5s')
    expect(await log('')).toEqual({ status: 200, text: 'run 1\n' })
    expect(await log('?previous=true&timestamps=true')).toEqual({ status: 200, text: '2024-01-01T00:00:00Z run 0\n' })
  })

  it('serve logs and metrics', async () => {
    await using server = await start([{ logs: 'one\ntwo\n', usage: { cpu: '250m', memory: '64Mi' } }])
    await run(server)
    const text = async (path: string) => (await server.client.request({ path })).text()
    expect(await text('/api/v1/namespaces/default/pods/web/log?tailLines=1')).toBe('two\n')
    const { items } = JSON.parse(await text('/apis/metrics.k8s.io/v1beta1/pods')) as { items: { containers: object[] }[] }
    expect(items[0]?.containers).toEqual([{ name: 'c', usage: { cpu: '250m', memory: '64Mi' } }])
  })
})
