import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer, TestServerOptions } from '../interfaces.ts'
import { labels, podNames, runPods, startWith, template } from './workloads.fixture.ts'

interface Autoscaler extends ApiObject {
  status?: {
    currentReplicas?: number
    desiredReplicas?: number
    lastScaleTime?: string
    currentMetrics?: object[]
    conditions?: { type: string; status: string; reason: string; message: string }[]
  }
}

const autoscalers = resourceType<Autoscaler>({
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
})
const replicaSets = resourceType<ApiObject & { spec?: { replicas?: number } }>({
  group: 'apps',
  version: 'v1',
  resource: 'replicasets',
  kind: 'ReplicaSet',
})

const events = resourceType<ApiObject & { message?: string; involvedObject?: { kind?: string } }>({
  group: '',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
})

const containers = [{ name: 'c', image: 'web:1', resources: { requests: { cpu: '100m' } } }]
const replicaSet: ApiObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template('web:1', { containers }) },
}
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }

function autoscaler(spec: object = {}): ApiObject {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' }
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics: [cpu], ...spec },
  }
}

/** Starts with two running pods. Every pod uses `usage.cpu`. */
async function start(usage: { cpu?: string; queue?: string }, spec: object = {}): Promise<TestServer> {
  const server: { current?: TestServer } = {}
  const metrics: NonNullable<TestServerOptions['metrics']> = {
    async resource() {
      const names = server.current === undefined ? [] : await podNames(server.current)
      return usage.cpu === undefined ? {} : Object.fromEntries(names.map((name) => [name, usage.cpu ?? '']))
    },
    external: () => (usage.queue === undefined ? [] : [usage.queue]),
  }
  const controllers = ['replicaset-controller', 'horizontal-pod-autoscaler-controller']
  server.current = await startWith(controllers, [replicaSet], { metrics })
  await ready(server.current)
  await server.current.client.create(autoscalers, autoscaler(spec))
  await server.current.settle()
  return server.current
}

/** Makes all pods running and ready for an hour. */
async function ready(server: TestServer): Promise<void> {
  await runPods(server)
  const pods = resourceType({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })
  for (const name of await podNames(server)) {
    const status = { startTime: '2023-12-31T00:00:00Z' }
    await server.client.patch(pods, name, { type: 'merge', subresource: 'status', patch: { status } })
  }
  await server.settle()
}

const replicasOf = async ({ client }: TestServer) => (await client.get(replicaSets, 'web')).spec?.replicas
const statusOf = async ({ client }: TestServer) => (await client.get(autoscalers, 'web')).status ?? {}
const conditionsOf = async (server: TestServer) =>
  (await statusOf(server)).conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)

describe('horizontal pod autoscaler', () => {
  it('scales to the target utilization and reports the metric', async () => {
    await using server = await start({ cpu: '90m' })
    expect(await replicasOf(server)).toBe(4)
    expect(await statusOf(server)).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 4,
      lastScaleTime: '2024-01-01T00:00:00Z',
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '90m' } } }],
    })
    expect(await conditionsOf(server)).toEqual([
      'AbleToScale True SucceededRescale',
      'ScalingActive True ValidMetricFound',
      'ScalingLimited False DesiredWithinRange',
    ])
  })

  it('ignores small differences', async () => {
    await using server = await start({ cpu: '54m' })
    expect([await replicasOf(server), (await conditionsOf(server))?.[0]]).toEqual([2, 'AbleToScale True ReadyForNewScale'])
  })

  it('treats pods that are not ready as idle', async () => {
    const usage = { cpu: '90m' }
    await using server = await start(usage)
    await server.clock.advance('15s')
    expect(await replicasOf(server)).toBe(4)
  })

  it('scales down after five minutes of lower recommendations', async () => {
    const usage = { cpu: '90m' }
    await using server = await start(usage)
    await ready(server)
    usage.cpu = '10m'
    await server.clock.advance('4m45s')
    expect([await replicasOf(server), (await conditionsOf(server))?.[0]]).toEqual([4, 'AbleToScale True ScaleDownStabilized'])
    await server.clock.advance('1m')
    expect(await replicasOf(server)).toBe(1)
  })

  it('follows the policies of the behavior', async () => {
    const up = { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] }
    await using server = await start(
      { queue: '40' },
      {
        metrics: [
          { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '5' } } },
        ],
        behavior: { scaleUp: up },
      },
    )
    expect([await replicasOf(server), (await conditionsOf(server))?.at(-1)]).toEqual([3, 'ScalingLimited True ScaleUpLimit'])
    await server.clock.advance('45s')
    expect(await replicasOf(server)).toBe(3)
    await server.clock.advance('15s')
    expect(await replicasOf(server)).toBe(4)
  })

  it('stays within minReplicas and maxReplicas', async () => {
    await using server = await start({ cpu: '10m' }, { minReplicas: 3 })
    expect(await replicasOf(server)).toBe(3)
    await server.client.patch(autoscalers, 'web', { type: 'merge', patch: { spec: { minReplicas: 1, maxReplicas: 1 } } })
    await server.settle()
    expect(await replicasOf(server)).toBe(1)
  })

  it('reports metrics and targets that it cannot read', async () => {
    await using server = await start({})
    expect(await conditionsOf(server)).toEqual([
      'AbleToScale True SucceededGetScale',
      'ScalingActive False FailedGetResourceMetric',
    ])
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'other' }
    await server.client.patch(autoscalers, 'web', { type: 'merge', patch: { spec: { scaleTargetRef } } })
    await server.settle()
    expect(await conditionsOf(server)).toContain('AbleToScale False FailedGetScale')
  })

  it('reports unreadable metrics in the wording of kube-controller-manager', async () => {
    const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'front' }
    const metric = { name: 'queue' }
    const value = { type: 'Value', value: '1' }
    const average = { type: 'AverageValue', averageValue: '1' }
    const apiAbsent = 'no custom metrics API (custom.metrics.k8s.io) registered'
    const cases: readonly [object, string, string][] = [
      [
        cpu,
        'failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
        'failed to get cpu resource metric value: ',
      ],
      [
        { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: average } },
        'failed to get cpu usage: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
        'failed to get c container metric value: ',
      ],
      [
        { type: 'Pods', pods: { metric, target: average } },
        `unable to get metric queue: unable to fetch metrics from custom metrics API: ${apiAbsent}`,
        'failed to get pods metric value: ',
      ],
      [
        { type: 'Object', object: { describedObject, metric, target: value } },
        `unable to get metric queue: Service on default front/unable to fetch metrics from custom metrics API: ${apiAbsent}`,
        'failed to get object metric value: ',
      ],
      [
        { type: 'External', external: { metric: { ...metric, selector: { matchLabels: { a: 'b' } } }, target: average } },
        'unable to get external metric default/queue/&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}: no metrics returned from external metrics API',
        'failed to get queue external metric value: failed to get queue external metric: ',
      ],
    ]
    for (const [each, problem, prefix] of cases) {
      await using server = await start({}, { metrics: [each] })
      const { conditions = [] } = await statusOf(server)
      const message = `the HPA was unable to compute the replica count: ${problem}`
      expect(conditions.find(({ type }) => type === 'ScalingActive')?.message).toBe(message)
      const { items } = await server.client.list(events, { namespace: 'default' })
      const told = items
        .filter(({ involvedObject }) => involvedObject?.kind === 'HorizontalPodAutoscaler')
        .map((event) => event.message)
      const summary = `invalid metrics (1 invalid out of 1), first error is: ${prefix}${problem}`
      expect(told.sort()).toEqual([problem, summary].sort())
    }
  })
})
