import { type Json, podTemplate, type Scenario } from '../scenario.ts'
import { deployment, isComplete } from './deployments.ts'

function budget(name: string, spec: Json) {
  const selector = { matchLabels: { app: 'web' } }
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec: { selector, ...spec } }
}

const bare = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: podTemplate('web').spec,
})

export const disruptionBudgets: readonly Scenario[] = [
  {
    name: 'budgets',
    run: async (namespace) => {
      await namespace.create(deployment({}))
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.create(budget('count', { minAvailable: 2 }))
      await namespace.create(budget('percent', { minAvailable: '50%' }))
      await namespace.create(budget('unavailable', { maxUnavailable: 1 }))
      await namespace.create(budget('unavailable-percent', { maxUnavailable: '34%' }))
      await namespace.create(budget('all', { minAvailable: '100%' }))
      await namespace.create(budget('other', { minAvailable: 1, selector: { matchLabels: { app: 'other' } } }))
    },
  },
  {
    name: 'budget-of-bare-pods',
    run: async (namespace) => {
      await namespace.create(bare('a'))
      await namespace.create(bare('b'))
      await namespace.create(budget('count', { minAvailable: 1 }))
      await namespace.create(budget('percent', { minAvailable: '50%' }))
      await namespace.create(budget('unavailable', { maxUnavailable: 1 }))
    },
  },
  {
    name: 'budget-evictions',
    run: async (namespace) => {
      await namespace.create(deployment({}))
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.create(budget('count', { minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' }))
      await namespace.until('policy/v1/poddisruptionbudgets/count', ({ status }) => status?.disruptionsAllowed === 1)
      const [pod] = await namespace.list('v1/pods', 'app=web')
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod?.metadata.name } }
      await namespace.send('POST', `${namespace.path(`v1/pods/${pod?.metadata.name}`)}/eviction`, eviction)
      await namespace.wait(3)
    },
  },
  {
    name: 'budget-of-unready-pods',
    run: async (namespace) => {
      await namespace.create(deployment({ template: podTemplate('web', {}, { image: 'missing:1' }) }))
      await namespace.create(budget('unavailable', { maxUnavailable: 1 }))
      await namespace.wait(3)
    },
  },
]
