import { type Json, podTemplate, type Scenario } from '../scenario.ts'
import { deployment, isComplete } from './deployments.ts'

function autoscaler(spec: Json) {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  const metrics = [{ type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '32Mi' } } }]
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web' },
    spec: { scaleTargetRef, maxReplicas: 5, metrics, ...spec },
  }
}

function target(usage: string, replicas: number) {
  const template = podTemplate('web', {}, { resources: { requests: { cpu: '100m', memory: '64Mi' } } })
  const metadata = { labels: { ...template.metadata.labels, usage } }
  return deployment({ replicas, template: { ...template, metadata } })
}

const settles = (name: string, { usage, replicas, spec }: { usage: string; replicas: number; spec: Json }): Scenario => ({
  name,
  run: async (namespace) => {
    await namespace.create(target(usage, replicas))
    await namespace.until('apps/v1/deployments/web', isComplete)
    await namespace.create(autoscaler(spec))
    await namespace.wait(75)
  },
})

export const autoscalers: readonly Scenario[] = [
  settles('autoscaler-up', { usage: 'high', replicas: 1, spec: {} }),
  settles('autoscaler-limited', {
    usage: 'high',
    replicas: 3,
    spec: { behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 600 }] } } },
  }),
  settles('autoscaler-down', {
    usage: 'low',
    replicas: 4,
    spec: { minReplicas: 2, behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
  }),
  settles('autoscaler-stabilized', { usage: 'low', replicas: 2, spec: {} }),
  settles('autoscaler-disabled', {
    usage: 'low',
    replicas: 4,
    spec: { behavior: { scaleDown: { selectPolicy: 'Disabled', stabilizationWindowSeconds: 0 } } },
  }),
  settles('autoscaler-tolerates', {
    usage: 'high',
    replicas: 2,
    spec: {
      metrics: [{ type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 100 } } }],
    },
  }),
  settles('autoscaler-no-metrics', {
    usage: 'high',
    replicas: 1,
    spec: {
      metrics: [
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'Service', name: 'a' },
            metric: { name: 'm' },
            target: { type: 'Value', value: '1' },
          },
        },
      ],
    },
  }),
  settles('autoscaler-external', {
    usage: 'high',
    replicas: 1,
    spec: {
      metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } }],
    },
  }),
  settles('autoscaler-pods-metric', {
    usage: 'high',
    replicas: 1,
    spec: { metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '1' } } }] },
  }),
  settles('autoscaler-container', {
    usage: 'high',
    replicas: 1,
    spec: {
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: { container: 'c', name: 'memory', target: { type: 'AverageValue', averageValue: '32Mi' } },
        },
      ],
    },
  }),
  settles('autoscaler-disabled-target', { usage: 'high', replicas: 0, spec: {} }),
  {
    name: 'autoscaler-no-target',
    run: async (namespace) => {
      await namespace.create(autoscaler({}))
      await namespace.wait(35)
    },
  },
  {
    name: 'autoscaler-without-requests',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 1 }))
      const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }]
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.create(autoscaler({ metrics }))
      await namespace.wait(35)
    },
  },
  {
    name: 'autoscaler-ambiguous',
    run: async (namespace) => {
      await namespace.create(target('high', 1))
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.create({ ...autoscaler({}), metadata: { name: 'a' } })
      await namespace.create({ ...autoscaler({}), metadata: { name: 'b' } })
      await namespace.wait(35)
    },
  },
]
