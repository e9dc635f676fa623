import { type Json, podTemplate, type Scenario, type Stored } from '../scenario.ts'

const id = 'apps/v1/statefulsets/db'

function statefulSet(spec: Json) {
  const selector = { matchLabels: { app: 'db' } }
  const metadata = { name: 'db' }
  const defaults = { replicas: 3, serviceName: 'db', selector, template: podTemplate('db') }
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { ...defaults, ...spec } }
}

const headless = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'db' },
  spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 80 }] },
}

function isComplete({ metadata, spec, status }: Stored): boolean {
  const { replicas, updateStrategy } = spec
  const partition: number = updateStrategy?.rollingUpdate?.partition ?? 0
  return (
    status?.observedGeneration === metadata.generation &&
    (status.availableReplicas ?? 0) === replicas &&
    status.replicas === replicas &&
    (updateStrategy.type === 'OnDelete' || (status.updatedReplicas ?? 0) >= replicas - partition)
  )
}

const changed = podTemplate('db', {}, { env: [{ name: 'A', value: '1' }] })
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

export const statefulSets: readonly Scenario[] = [
  {
    name: 'stateful-set-ordered',
    run: async (namespace) => {
      await namespace.create(headless)
      await namespace.create(statefulSet({ volumeClaimTemplates: [claim] }))
      await namespace.until('v1/persistentvolumeclaims/data-db-0', () => true)
      await namespace.merge(id, { spec: { replicas: 2 } })
    },
  },
  {
    name: 'stateful-set-partition',
    run: async (namespace) => {
      await namespace.create(headless)
      await namespace.create(statefulSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: changed } })
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } })
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'stateful-set-parallel',
    run: async (namespace) => {
      await namespace.create(statefulSet({ podManagementPolicy: 'Parallel', ordinals: { start: 5 }, minReadySeconds: 1 }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { replicas: 1, template: changed } })
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'stateful-set-on-delete',
    run: async (namespace) => {
      await namespace.create(statefulSet({ replicas: 2, updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: changed } })
      await namespace.until(id, isComplete)
      await namespace.delete('v1/pods/db-1')
      await namespace.wait(3)
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'stateful-set-stuck',
    run: async (namespace) => {
      await namespace.create(statefulSet({ template: podTemplate('db', {}, { image: 'missing:1' }) }))
      await namespace.until('v1/pods/db-0', () => true)
      await namespace.merge(id, { spec: { template: podTemplate('db') } })
      await namespace.wait(3)
      await namespace.delete('v1/pods/db-0')
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'stateful-set-claims-deleted',
    run: async (namespace) => {
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' }
      await namespace.create(
        statefulSet({
          replicas: 2,
          volumeClaimTemplates: [claim],
          persistentVolumeClaimRetentionPolicy,
          podManagementPolicy: 'Parallel',
        }),
      )
      await namespace.until('v1/persistentvolumeclaims/data-db-1', () => true)
      await namespace.wait(2)
    },
  },
  {
    name: 'stateful-set-failed-pod',
    run: async (namespace) => {
      await namespace.create(statefulSet({ replicas: 1 }))
      await namespace.until(id, isComplete)
      const failed = { status: { phase: 'Failed' } }
      await namespace.merge('v1/pods/db-0', failed, 'status')
      await namespace.wait(3)
      await namespace.until(id, isComplete)
    },
  },
]
