import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import { SubjectAccessReview } from '../../group-versions/authorization-v1.generated.ts'
import { Ingress, type IngressSpec } from '../../group-versions/networking-v1.generated.ts'
import { PodDisruptionBudget } from '../../group-versions/policy-v1.generated.ts'
import { faults } from '../testing/objects.ts'

/** Changes between versions of kinds. @see API protocol specification, 9.4 */

describe('versions', () => {
  it.each([
    ['flowcontrol.apiserver.k8s.io', 'v1beta1', 'v1', 'FlowSchema', 'flowschemas', '1.26'],
    ['flowcontrol.apiserver.k8s.io', 'v1beta1', 'v1', 'PriorityLevelConfiguration', 'prioritylevelconfigurations', '1.26'],
    ['autoscaling', 'v2beta2', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', '1.26'],
    ['storage.k8s.io', 'v1beta1', 'v1', 'CSIStorageCapacity', 'csistoragecapacities', '1.27'],
  ])('%s/%s: serves %s instead of the version that was removed: %s [P335]', (group, version, next, kind, resource, removed) => {
    for (const release of [removed, '1.30', '1.33']) {
      const catalog = createCatalog({ features: createFeatures(release), runtimeConfig: 'api/all=true' })
      expect(catalog.resource({ group, version, resource }), release).toBeUndefined()
    }
    const catalog = createCatalog()
    expect(catalog.resource({ group, version: next, resource })?.kind.kind).toBe(kind)
    // Manifests of the removed version can still be read and converted.
    expect(catalog.kind({ group, version, kind })).toMatchObject({ removed })
    expect(catalog.kind({ group, version: next, kind })).not.toHaveProperty('removed')
  })

  it('requires a pathType of ingress paths in v1 [P339]', () => {
    const backend = { service: { name: 's', port: { number: 80 } } }
    const ingress = (spec: IngressSpec) => Ingress.create({ metadata: { name: 'i' }, spec })
    const path = (members: object) => ingress({ rules: [{ http: { paths: [{ backend, ...members } as never] } }] })
    expect(Ingress.validate(ingress({ defaultBackend: backend }))).toEqual([])
    expect(Ingress.validate(ingress({ defaultBackend: { service: { name: 's', port: { name: 'http' } } } }))).toEqual([])
    for (const pathType of ['Prefix', 'Exact', 'ImplementationSpecific'])
      expect(Ingress.validate(path({ pathType, path: '/' }))).toEqual([])
    expect(faults(Ingress.validate(path({ path: '/' })))).toEqual(['spec.rules[0].http.paths[0].pathType Required'])
    expect(faults(Ingress.validate(path({ pathType: 'Regex', path: '/' })))).toEqual([
      'spec.rules[0].http.paths[0].pathType NotSupported',
    ])
    for (const old of [
      { backend: { serviceName: 's', servicePort: 80 } },
      { rules: [{ http: { paths: [{ backend: { serviceName: 's' } }] } }] },
    ])
      expect(() => Ingress.decode({ ...ingress({}), spec: old })).toThrow('unknown field')
  })

  it('accepts groups in access reviews [P340]', () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {} }
    expect(SubjectAccessReview.decode({ ...review, spec: { user: 'u', groups: ['a'] } }).spec.groups).toEqual(['a'])
    expect(() => SubjectAccessReview.decode({ ...review, spec: { user: 'u', group: ['a'] } })).toThrow(
      'unknown field "spec.group"',
    )
  })

  it('tells an empty selector of a disruption budget from an absent one', () => {
    const budget = (selector?: object) =>
      PodDisruptionBudget.create({
        metadata: { name: 'b' },
        spec: { minAvailable: 1, ...(selector === undefined ? {} : { selector }) },
      })
    expect(PodDisruptionBudget.validate(budget({}))).toEqual([])
    expect(PodDisruptionBudget.decode(budget({})).spec?.selector).toEqual({})
    expect(PodDisruptionBudget.decode(budget()).spec).not.toHaveProperty('selector')
  })
})
