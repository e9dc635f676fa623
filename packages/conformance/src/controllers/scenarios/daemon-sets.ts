import { type Json, podTemplate, type Scenario, type Stored } from '../scenario.ts'

const id = 'apps/v1/daemonsets/agent'

function daemonSet(spec: Json) {
  const selector = { matchLabels: { app: 'agent' } }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent' },
    spec: { selector, template: podTemplate('agent'), ...spec },
  }
}

function isComplete({ metadata, status }: Stored): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status.desiredNumberScheduled > 0 &&
    (status.updatedNumberScheduled ?? 0) === status.desiredNumberScheduled &&
    (status.numberAvailable ?? 0) === status.desiredNumberScheduled
  )
}

const changed = podTemplate('agent', {}, { env: [{ name: 'A', value: '1' }] })

export const daemonSets: readonly Scenario[] = [
  {
    name: 'daemon-set-rolling',
    run: async (namespace) => {
      await namespace.create(daemonSet({}))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: changed } })
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'daemon-set-surge',
    run: async (namespace) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
      await namespace.create(daemonSet({ updateStrategy, minReadySeconds: 1 }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: changed } })
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'daemon-set-on-delete',
    run: async (namespace) => {
      await namespace.create(daemonSet({ updateStrategy: { type: 'OnDelete' } }))
      await namespace.until(id, isComplete)
      await namespace.merge(id, { spec: { template: changed } })
      await namespace.wait(2)
      const [pod] = await namespace.list('v1/pods', 'app=agent')
      await namespace.delete(`v1/pods/${pod?.metadata.name}`)
      await namespace.wait(2)
    },
  },
  {
    name: 'daemon-set-selected',
    run: async (namespace) => {
      await namespace.create(
        daemonSet({ template: podTemplate('agent', { nodeSelector: { 'topology.kubernetes.io/zone': 'zone-2' } }) }),
      )
      await namespace.until(id, isComplete)
    },
  },
  {
    name: 'daemon-set-failed-pod',
    run: async (namespace) => {
      await namespace.create(daemonSet({}))
      await namespace.until(id, isComplete)
      const [pod] = await namespace.list('v1/pods', 'app=agent')
      await namespace.merge(`v1/pods/${pod?.metadata.name}`, { status: { phase: 'Failed' } }, 'status')
      await namespace.wait(3)
      await namespace.until(id, isComplete)
    },
  },
]
