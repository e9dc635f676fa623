import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { Strategy } from '../../interfaces.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { replicaSetStrategy } from '../apps/replica-set/strategy.ts'
import { jobStrategy } from '../batch/job/strategy.ts'
import { nodeStrategy } from '../core/node/strategy.ts'
import { persistentVolumeClaimStrategy } from '../core/persistent-volume-claim/strategy.ts'
import { replicationControllerStrategy } from '../core/replication-controller/strategy.ts'
import { networkPolicyStrategy } from '../networking/network-policy/strategy.ts'
import { clusterRoleStrategy } from '../rbac/role.ts'
import { roleBindingStrategy } from '../rbac/role-binding/strategy.ts'
import { testContext } from '../testing/context.ts'

/** Rules of updates that 1.34 and later releases changed. */

type Gates = Readonly<Record<string, boolean>>

const at = (release: string, gates: Gates = {}) => testContext({ features: createFeatures(release, gates) })
const object = (kind: string, members: object) =>
  ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '1' },
    ...members,
  }) as ApiObject
const updated = (strategy: Strategy, now: ApiObject, old: ApiObject, release: string, gates: Gates = {}) =>
  runValidation(strategy.validateUpdate?.(now, old, at(release, gates))).map(({ field, message }) => `${field}: ${message}`)
const fields = (texts: readonly string[]) => texts.map((text) => text.slice(0, text.indexOf(': ')))

const template = {
  metadata: { labels: { a: 'b' } },
  spec: {
    containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }],
    restartPolicy: 'Always',
    dnsPolicy: 'Default',
    terminationGracePeriodSeconds: 1,
  },
}
const selector = { matchLabels: { a: 'b' } }

describe('updates that kube-apiserver validates once', () => {
  const counts = (strategy: Strategy, wrong: ApiObject, releases: readonly string[]) =>
    releases.map((release) => updated(strategy, wrong, wrong, release).length)

  it('since 1.34 of sets of replicas', () => {
    const set = object('ReplicaSet', { spec: { replicas: -1, selector, template } })
    expect(counts(replicaSetStrategy, set, ['1.33', '1.34'])).toEqual([2, 1])
  })

  it('since 1.35 of controllers, roles and bindings', () => {
    const controller = object('ReplicationController', { spec: { replicas: -1, selector: { a: 'b' }, template } })
    expect(counts(replicationControllerStrategy, controller, ['1.34', '1.35'])).toEqual([2, 1])
    const role = object('ClusterRole', { rules: [{ verbs: [], apiGroups: [''], resources: ['pods'] }] })
    delete role.metadata.namespace
    expect(counts(clusterRoleStrategy, role, ['1.34', '1.35'])).toEqual([2, 1])
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: '' }
    const binding = object('RoleBinding', { roleRef })
    expect(counts(roleBindingStrategy, binding, ['1.34', '1.35'])).toEqual([4, 2])
    const other = object('RoleBinding', { roleRef: { ...roleRef, name: 'a' } })
    const changed = (release: string) => updated(roleBindingStrategy, other, binding, release).at(-1)
    expect(changed('1.36')).toMatch(/cannot change roleRef$/)
    expect(changed('1.37')).toMatch(/field is immutable$/)
  })

  it('since 1.36 of network policies, since 1.37 of jobs', () => {
    const policy = object('NetworkPolicy', { spec: { podSelector: {}, policyTypes: ['Sideways'] } })
    expect(counts(networkPolicyStrategy, policy, ['1.35', '1.36'])).toEqual([2, 1])
    const job = object('Job', {
      metadata: { name: 'a'.repeat(62), namespace: 'n', uid: 'u', resourceVersion: '1' },
      spec: { completionMode: 'Indexed', completions: 9, parallelism: 1, selector, manualSelector: true, template },
    })
    const names = (release: string) =>
      fields(updated(jobStrategy, job, job, release)).filter((field) => field === 'metadata.name')
    expect([names('1.36'), names('1.37')]).toEqual([['metadata.name'], ['metadata.name']])
  })
})

describe('jobs that are suspended', () => {
  const job = (image: string, cpu: string, status: object) => {
    const [container] = template.spec.containers
    const spec = {
      ...template.spec,
      restartPolicy: 'Never',
      containers: [{ ...container, image, resources: { requests: { cpu } } }],
    }
    return object('Job', {
      spec: {
        suspend: true,
        completionMode: 'NonIndexed',
        parallelism: 1,
        manualSelector: true,
        selector,
        template: { ...template, spec },
      },
      status,
    })
  }
  const suspended = { startTime: '2020-01-01T00:00:00Z', conditions: [{ type: 'Suspended', status: 'True' }] }
  const gates = { MutablePodResourcesForSuspendedJobs: true, MutableSchedulingDirectivesForSuspendedJobs: true }
  const frozen = (now: ApiObject, old: ApiObject, release: string, set: Gates) =>
    fields(updated(jobStrategy, now, old, release, set)).filter((field) => field.startsWith('spec.template'))

  it('may change their resources behind a gate', () => {
    const old = job('i', '1', suspended)
    expect(frozen(job('i', '2', suspended), old, '1.36', gates)).toEqual([])
    expect(frozen(job('i', '2', suspended), old, '1.34', {})).toEqual(['spec.template'])
    expect(frozen(job('j', '2', suspended), old, '1.36', gates)).toEqual(['spec.template.spec'])
    expect(frozen(job('i', '2', { active: 1 }), job('i', '1', { active: 1 }), '1.36', gates)).toEqual(['spec.template'])
  })

  it('count before they start since 1.36', () => {
    expect(frozen(job('i', '2', {}), job('i', '1', {}), '1.35', gates)).toEqual(['spec.template'])
    expect(frozen(job('i', '2', {}), job('i', '1', {}), '1.36', gates)).toEqual([])
  })
})

it('claims may unset a class that is not in use since 1.34', () => {
  const claim = (members: object, status: object = {}) =>
    object('PersistentVolumeClaim', {
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } }, volumeMode: 'Filesystem', ...members },
      status: { phase: 'Bound', ...status },
    })
  const gates = { VolumeAttributesClass: true }
  const found = (release: string, status: object = {}) =>
    updated(persistentVolumeClaimStrategy, claim({}, status), claim({ volumeAttributesClassName: 'a' }, status), release, gates)
  expect(found('1.33')).toHaveLength(2)
  expect(found('1.34')).toEqual([])
  expect(found('1.34', { currentVolumeAttributesClassName: 'a' })).toEqual([
    'spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when status.currentVolumeAttributesClassName is not nil',
  ])
})

describe('nodes', () => {
  const node = (spec: object, status: object = {}) => {
    const made = object('Node', { spec, status })
    delete made.metadata.namespace
    return made
  }

  it('keep their provider', () => {
    const found = (providerID: string | undefined, release: string) =>
      updated(nodeStrategy, node({ ...(providerID === undefined ? {} : { providerID }) }), node({ providerID: 'a' }), release)
    expect(found('b', '1.36')).toEqual([
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ])
    expect(found('b', '1.37')[0]).toMatch(/field cannot be modified once set$/)
    expect(found(undefined, '1.37')[0]).toMatch(/field cannot be cleared once set$/)
  })

  it('declare features in order', () => {
    const found = (...declaredFeatures: string[]) =>
      fields(runValidation(nodeStrategy.validate?.(node({}, { declaredFeatures }), at('1.36'))).map(({ field }) => `${field}: `))
    expect(found('A', 'B/c')).toEqual([])
    expect(found('b', 'A', 'A')).toEqual([0, 1, 2].map((i) => `status.declaredFeatures[${i}]`))
    const kept = (gates: Gates) => {
      const made = node({}, { declaredFeatures: ['A'] }) as ApiObject & { readonly status?: object }
      runPreparation(nodeStrategy.prepareForCreate?.(made, at('1.36', gates)))
      return made.status
    }
    expect([kept({ NodeDeclaredFeatures: true }), kept({ NodeDeclaredFeatures: false })]).toEqual([
      { declaredFeatures: ['A'] },
      {},
    ])
  })
})
