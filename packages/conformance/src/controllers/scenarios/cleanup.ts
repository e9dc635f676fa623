import { type Json, podTemplate, type Scenario, type ScenarioNamespace, type Stored } from '../scenario.ts'
import { deployment, isComplete } from './deployments.ts'

const configMap = (name: string, metadata: Json = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})

const ownedBy = ({ metadata: { name, uid } }: Stored, more: Json = {}) => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }],
})

async function chain(namespace: ScenarioNamespace): Promise<void> {
  const owner = await namespace.create(configMap('owner'))
  const middle = await namespace.create(configMap('middle', ownedBy(owner, { blockOwnerDeletion: true })))
  await namespace.create(configMap('leaf', ownedBy(middle, { blockOwnerDeletion: true })))
  await namespace.create(configMap('held', { ...ownedBy(owner, { blockOwnerDeletion: true }), finalizers: ['example.com/hold'] }))
  await namespace.wait(1)
}

export const cleanup: readonly Scenario[] = [
  {
    name: 'garbage-foreground',
    run: async (namespace) => {
      await chain(namespace)
      await namespace.delete('v1/configmaps/owner', { propagationPolicy: 'Foreground' })
      await namespace.wait(3)
    },
  },
  {
    name: 'garbage-background',
    run: async (namespace) => {
      await chain(namespace)
      await namespace.delete('v1/configmaps/owner', { propagationPolicy: 'Background' })
      await namespace.wait(3)
    },
  },
  {
    name: 'garbage-orphan',
    run: async (namespace) => {
      await chain(namespace)
      await namespace.delete('v1/configmaps/owner', { propagationPolicy: 'Orphan' })
      await namespace.wait(3)
    },
  },
  {
    name: 'garbage-wrong-owners',
    run: async (namespace) => {
      const other = await namespace.get('/v1/namespaces/default')
      await namespace.create(
        configMap('cluster-owned', {
          ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: other.metadata.uid }],
        }),
      )
      await namespace.create(
        configMap('wrong-uid', {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: 'b5c6d7e8-1111-4222-8333-944445555666' },
          ],
        }),
      )
      await namespace.create(
        configMap('unserved-kind', {
          ownerReferences: [
            { apiVersion: 'example.com/v1', kind: 'Absent', name: 'a', uid: 'b5c6d7e8-1111-4222-8333-944445555667' },
          ],
        }),
      )
      const elsewhere = async (metadata: Json) => {
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'foreign-', ...metadata } }
        return namespace.send('POST', '/api/v1/namespaces/default/configmaps', body)
      }
      const foreign = await elsewhere({})
      await elsewhere(ownedBy(foreign))
      await namespace.wait(1)
      await namespace.create(configMap('foreign-owned', ownedBy(foreign)))
      await namespace.wait(3)
    },
  },
  {
    name: 'garbage-of-deployment',
    run: async (namespace) => {
      await namespace.create(deployment({}))
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.delete('apps/v1/deployments/web', { propagationPolicy: 'Foreground' })
      await namespace.untilGone('apps/v1/deployments/web')
    },
  },
  {
    name: 'quota',
    run: async (namespace) => {
      const quota = (name: string, spec: Json) =>
        namespace.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec })
      const hard = {
        pods: '10',
        'requests.cpu': '2',
        'limits.memory': '2Gi',
        services: '3',
        'services.nodeports': '1',
        configmaps: '5',
        persistentvolumeclaims: '2',
        'requests.storage': '5Gi',
        secrets: '4',
      }
      await quota('many', { hard })
      await quota('counts', {
        hard: { 'count/deployments.apps': '3', 'count/jobs.batch': '1', 'count/configmaps': '9', cpu: '3', memory: '3Gi' },
      })
      await quota('best-effort', { hard: { pods: '5' }, scopes: ['BestEffort'] })
      await quota('terminating', { hard: { pods: '5' }, scopes: ['Terminating'] })
      await quota('priority', {
        hard: { pods: '5' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
      })
      await namespace.until('v1/resourcequotas/many', ({ status }) => status?.used?.pods === '0')
      const resources = { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '200m', memory: '32Mi' } }
      await namespace.create(deployment({ template: podTemplate('web', {}, { resources }) }))
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'a' },
        spec: { type: 'NodePort', ports: [{ port: 80 }] },
      })
      await namespace.create(configMap('a'))
      await namespace.create({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'absent', resources: { requests: { storage: '1Gi' } } },
      })
      await namespace.merge('apps/v1/deployments/web', { spec: { replicas: 1 } })
      await namespace.until('apps/v1/deployments/web', isComplete)
      await namespace.delete('v1/configmaps/a')
      await namespace.wait(3)
      await namespace.merge('v1/resourcequotas/many', { spec: { hard: { pods: '20', secrets: null } } })
      await namespace.wait(6)
    },
  },
  {
    name: 'quota-resized',
    run: async (namespace) => {
      const hard = { 'requests.cpu': '2k', 'limits.cpu': '2k', 'requests.memory': '1Gi' }
      await namespace.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'compute' }, spec: { hard } })
      await namespace.until('v1/resourcequotas/compute', ({ status }) => status?.used !== undefined)
      const pod = async (name: string, cpu: string, resized: string) => {
        const resources = (amount: string) => ({
          requests: { cpu: amount, memory: '16Mi' },
          limits: { cpu: amount, memory: '32Mi' },
        })
        const { spec } = podTemplate(name, {}, { resources: resources(cpu) })
        await namespace.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })
        await namespace.until(`v1/pods/${name}`, ({ status }) => status.phase === 'Running')
        const containers = [{ name: 'c', image: spec.containers[0]?.image, resources: resources(resized) }]
        await namespace.merge(`v1/pods/${name}`, { spec: { containers } }, 'resize')
      }
      await pod('grows', '100m', '300m')
      await pod('shrinks', '500m', '200m')
      // No node is as large.
      await pod('stays', '50m', '500')
      await namespace.wait(4)
    },
  },
  {
    name: 'namespace-terminating',
    run: async (namespace) => {
      await namespace.create(configMap('held', { finalizers: ['example.com/hold'] }))
      await namespace.create(configMap('free'))
      await namespace.create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', finalizers: ['example.com/other'] },
        spec: podTemplate('p').spec,
      })
      await namespace.until('v1/pods/p', ({ status }) => status.phase === 'Running')
      await namespace.delete(`/v1/namespaces/${namespace.name}`)
      await namespace.wait(8)
    },
  },
  {
    name: 'evicted-by-taint',
    isAlone: true,
    run: async (namespace) => {
      const node = `bare-${namespace.name}`
      await namespace.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } }, 'cluster')
      const bound = (name: string, tolerations: readonly Json[]) =>
        namespace.create({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name },
          spec: { ...podTemplate('p').spec, nodeName: node, tolerations, terminationGracePeriodSeconds: 1000 },
        })
      await bound('evicted', [])
      await bound('tolerates', [{ key: 'example.com/a', operator: 'Exists' }])
      await bound('tolerates-a-while', [{ key: 'example.com/a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 }])
      await bound('cancelled', [{ key: 'example.com/b', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 100 }])
      await namespace.merge(`/v1/nodes/${node}`, { spec: { taints: [{ key: 'example.com/a', effect: 'NoExecute' }] } })
      await namespace.wait(6)
    },
  },
  {
    name: 'aggregated-role',
    run: async (namespace) => {
      const label = { [`example.com/${namespace.name}`]: 'true' }
      const role = (name: string, more: Json) =>
        namespace.create(
          { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name, labels: label }, ...more },
          'cluster',
        )
      await role('z-part', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })
      await role('a-part', {
        rules: [
          { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
          { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
        ],
      })
      await namespace.create(
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'aggregated' },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] },
          rules: [],
        },
        'cluster',
      )
      await namespace.wait(2)
    },
  },
]
