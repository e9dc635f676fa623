import { createCatalog, runValidation } from '@krmkit/kinds'
import { type ApiObject, type JsonObject, parseApiVersion, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'
import { shapeAt, shapeOf, withDefaults } from 'krmkit/validate'
import { expect, it } from 'vitest'
import { immutableFields } from './immutable-fields.ts'

const features = createFeatureGates()
const catalog = createCatalog({ features })
const labels = { app: 'a' }
const template = { metadata: { labels: { ...labels, b: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } }
const jobTemplate = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const selector = { matchLabels: labels }
const other = { matchLabels: { b: 'b' } }
const claim = { metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'a' }
const role = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })

/** Objects, and for each immutable field another value of it. */
const cases: readonly { readonly object: JsonObject; readonly changes: Readonly<Record<string, unknown>> }[] = [
  { object: { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } }, changes: { 'spec.selector': other } },
  { object: { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } }, changes: { 'spec.selector': other } },
  { object: { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector, template } }, changes: { 'spec.selector': other } },
  {
    object: { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { selector, template, serviceName: 'a' } },
    changes: {
      'spec.selector': other,
      'spec.serviceName': 'b',
      'spec.podManagementPolicy': 'Parallel',
      'spec.volumeClaimTemplates': [claim],
    },
  },
  {
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      spec: { manualSelector: true, selector, completions: 1, template: jobTemplate },
    },
    changes: {
      'spec.selector': other,
      'spec.template': { ...jobTemplate, spec: { ...jobTemplate.spec, hostname: 'b' } },
      'spec.completionMode': 'Indexed',
    },
  },
  {
    object: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { ...claim.spec, storageClassName: 'a' } },
    changes: {
      'spec.accessModes': ['ReadOnlyMany'],
      'spec.selector': selector,
      'spec.storageClassName': 'b',
      'spec.volumeMode': 'Block',
    },
  },
  { object: { apiVersion: 'v1', kind: 'Secret', type: 'Opaque' }, changes: { type: 'example.com/b' } },
  {
    object: { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', spec: { controller: 'example.com/a' } },
    changes: { 'spec.controller': 'example.com/b' },
  },
  {
    object: {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
      ...{ roleRef: role('ClusterRole', 'a'), subjects: [subject] },
    },
    changes: { roleRef: role('ClusterRole', 'b') },
  },
  {
    object: {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
      ...{ roleRef: role('Role', 'a'), subjects: [subject] },
    },
    changes: { roleRef: role('Role', 'b') },
  },
  {
    object: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 1 },
    changes: { value: 2, preemptionPolicy: 'Never' },
  },
  {
    object: { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'example.com/a' },
    changes: {
      provisioner: 'example.com/b',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  },
]

it.each(cases.map((each) => [each.object.kind, each] as const))(
  '%s refuses changes of immutable fields only',
  (_, { object, changes }) => {
    const definition = catalog.serving({ ...parseApiVersion(String(object.apiVersion)), kind: String(object.kind) })!
    const metadata = { name: 'a', resourceVersion: '1', uid: 'u', ...(definition.kind.namespaced ? { namespace: 'a' } : {}) }
    const context = { clock: systemClock, random: systemRandom, profile: stockProfile, features }
    const stored = (change: object): ApiObject => withDefaults(definition, structuredClone({ ...object, ...change, metadata }))
    const errors = (change: object) => runValidation(definition.strategy.validateUpdate!(stored(change), stored({}), context))
    expect(errors({})).toEqual([])
    for (const [path, value] of Object.entries(changes)) {
      const [first = '', second] = path.split('.')
      const change = second === undefined ? { [first]: value } : { [first]: { ...(object[first] as object), [second]: value } }
      const fields = errors(change).map(({ field }) => field)
      expect(
        fields.filter((field) => field === path || path.startsWith(`${field}.`)),
        `${object.kind} ${path}`,
      ).not.toEqual([])
    }
  },
)

it('every immutable field has a case', () => {
  const covered = cases.flatMap(({ object, changes }) => {
    const definition = catalog.serving({ ...parseApiVersion(String(object.apiVersion)), kind: String(object.kind) })!
    return Object.keys(changes).map((path) => {
      const member = shapeAt(shapeOf(definition.kind.type()), path.split('.'))
      return member !== undefined && 'owner' in member ? `${member.owner}.${member.name}` : path
    })
  })
  expect(covered.sort()).toEqual([...immutableFields()].sort())
})
