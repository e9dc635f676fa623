import { type Json, podTemplate, type Scenario, type ScenarioNamespace, type Stored } from '../scenario.ts'

const id = 'apps/v1/deployments/web'

export function deployment(spec: Json, annotations: Json = {}) {
  const selector = { matchLabels: { app: 'web' } }
  const metadata = { name: 'web', annotations }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { replicas: 3, selector, template: podTemplate('web'), ...spec },
  }
}

export function isComplete({ metadata, spec, status }: Stored): boolean {
  const { replicas } = spec
  return (
    status?.observedGeneration === metadata.generation &&
    (status.updatedReplicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas
  )
}

const setEnv = (namespace: ScenarioNamespace, value: string) =>
  namespace.merge(id, { spec: { template: podTemplate('web', {}, { env: [{ name: 'A', value }] }) } })

export const deployments: readonly Scenario[] = [
  {
    name: 'deployment-rollout',
    run: async (namespace) => {
      await namespace.create(deployment({}, { 'kubernetes.io/change-cause': 'first' }))
      await namespace.until(id, isComplete)
      await setEnv(namespace, '1')
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'deployment-history',
    run: async (namespace) => {
      await namespace.create(deployment({ revisionHistoryLimit: 1 }))
      for (const value of ['1', '2', '3']) {
        await namespace.until(id, isComplete)
        await setEnv(namespace, value)
      }
      await namespace.until(id, isComplete)
      await setEnv(namespace, '2')
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'deployment-proportional',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: podTemplate('web', {}, { image: 'missing:1' }) } })
      await namespace.until(id, ({ status }) => status.updatedReplicas === 2)
      await namespace.wait(1)
      await namespace.merge(id, { spec: { replicas: 10 } })
    },
  },
  {
    name: 'deployment-deadline',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 2, progressDeadlineSeconds: 4 }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: podTemplate('web', {}, { image: 'missing:1' }) } })
      await namespace.until(id, ({ status }) => JSON.stringify(status).includes('ProgressDeadlineExceeded'))
    },
  },
  {
    name: 'deployment-paused',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 2, paused: true }))
      await namespace.wait(2)
      await namespace.merge(id, { spec: { paused: false } })
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { paused: true, replicas: 3 } })
      await namespace.until(id, ({ status }) => status.availableReplicas === 3)
      await setEnv(namespace, '1')
      await namespace.wait(2)
    },
  },
  {
    name: 'deployment-recreate',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 2, strategy: { type: 'Recreate' } }))
      await namespace.until(id, isComplete)
      await setEnv(namespace, '1')
      await namespace.wait(1)
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'deployment-over-quota',
    run: async (namespace) => {
      await namespace.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '1' } } })
      await namespace.until('v1/resourcequotas/q', ({ status }) => status?.used?.pods === '0')
      await namespace.create(deployment({ replicas: 2 }))
      await namespace.until(id, ({ status }) => JSON.stringify(status ?? {}).includes('ReplicaFailure'))
    },
  },
  {
    name: 'deployment-scaled-to-zero',
    run: async (namespace) => {
      await namespace.create(deployment({ minReadySeconds: 1 }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { replicas: 0 } })
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'deployment-adopts',
    run: async (namespace) => {
      await namespace.create(deployment({ replicas: 2 }))
      await namespace.until(id, isComplete)
      await namespace.delete(id, { propagationPolicy: 'Orphan' })
      await namespace.untilGone(id)
      await namespace.wait(1)
      await namespace.create(deployment({ replicas: 2 }))
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'deployment-selects-all',
    run: async (namespace) => {
      await namespace.create(deployment({ selector: {}, replicas: 1 })).catch(() => undefined)
      await namespace.create(deployment({ replicas: 1, progressDeadlineSeconds: 2147483647 }))
      await namespace.until(id, isComplete)
    },
  },
]
