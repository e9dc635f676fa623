import { podTemplate, type Scenario } from '../scenario.ts'

const selector = { matchLabels: { app: 'web' } }
const labelled = 'app=web'

export const replicaSets: readonly Scenario[] = [
  {
    name: 'replica-set',
    run: async (namespace) => {
      await namespace.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'orphan', labels: { app: 'web' } },
        spec: podTemplate('web').spec,
      })
      const spec = { replicas: 3, selector, template: podTemplate('web'), minReadySeconds: 1 }
      await namespace.create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' }, spec })
      await namespace.until('apps/v1/replicasets/web', ({ status }) => status?.availableReplicas === 3)
      await namespace.merge('v1/pods/orphan', { metadata: { labels: { app: 'other' } } })
      await namespace.wait(2)
      await namespace.until('apps/v1/replicasets/web', ({ status }) => status?.availableReplicas === 3)
      await namespace.merge('apps/v1/replicasets/web', { spec: { replicas: 1 } })
      await namespace.untilPods(labelled, (pods) => pods.length === 1)
    },
  },
  {
    name: 'replication-controller',
    run: async (namespace) => {
      const spec = { replicas: 2, selector: { app: 'web' }, template: podTemplate('web') }
      await namespace.create({ apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'web' }, spec })
      const id = 'v1/replicationcontrollers/web'
      await namespace.until(id, ({ status }) => status?.availableReplicas === 2)
      await namespace.merge(id, { spec: { replicas: 1 } })
      await namespace.until(id, ({ status }) => status?.replicas === 1)
    },
  },
  {
    name: 'replica-set-refused',
    run: async (namespace) => {
      const template = podTemplate('web', { serviceAccountName: 'absent' })
      const spec = { replicas: 1, selector, template }
      await namespace.create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' }, spec })
      await namespace.until('apps/v1/replicasets/web', ({ status }) => JSON.stringify(status ?? {}).includes('FailedCreate'))
      await namespace.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'absent' } })
      await namespace.until('apps/v1/replicasets/web', ({ status }) => status.availableReplicas === 1)
    },
  },
]
