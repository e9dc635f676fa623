import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import { SubjectAccessReview } from '../../types/authorization-v1.generated.ts'
import { Ingress, type IngressSpec } from '../../types/networking-v1.generated.ts'
import { PodDisruptionBudget } from '../../types/policy-v1.generated.ts'
import { faults } from '../testing/objects.ts'

/** What changed with the versions of kinds. @see API protocol specification, 9.4 */

describe('versions', () => {
  it('P335 what goes with 1.26 and 1.27 is not served by newer releases', () => {
    const gone = [
      ['flowcontrol.apiserver.k8s.io', 'v1beta1', 'flowschemas'],
      ['autoscaling', 'v2beta2', 'horizontalpodautoscalers'],
      ['storage.k8s.io', 'v1beta1', 'csistoragecapacities'],
    ] as const
    for (const release of ['1.27', '1.30', '1.33']) {
      const catalog = createCatalog({ features: createFeatures(release), runtimeConfig: 'api/all=true' })
      for (const [group, version, resource] of gone)
        expect(catalog.resource({ group, version, resource }), resource).toBeUndefined()
    }
    const catalog = createCatalog()
    expect(catalog.resource({ group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' })).toBeDefined()
    expect(catalog.resource({ group: 'storage.k8s.io', version: 'v1', resource: 'csistoragecapacities' })).toBeDefined()
  })

  it('P339 an ingress has the members of v1, and its paths have a type', () => {
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

  it('P340 an access review names groups', () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {} }
    expect(SubjectAccessReview.decode({ ...review, spec: { user: 'u', groups: ['a'] } }).spec.groups).toEqual(['a'])
    expect(() => SubjectAccessReview.decode({ ...review, spec: { user: 'u', group: ['a'] } })).toThrow(
      'unknown field "spec.group"',
    )
  })

  it('P341 an empty selector of a disruption budget is another than none', () => {
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
