import type { ConvertedObject } from '@krmkit/admission'
import { builtInTypes, createCatalog } from '@krmkit/kinds'
import { type ApiObject, fixedFeatures, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createObjectConvertor } from './object-convertor.ts'
import { ServedResources } from './served-resources.ts'

const types = builtInTypes(stockProfile)
const { definitions } = createCatalog({ features: fixedFeatures('1.33'), types, profile: stockProfile })
const served = new ServedResources(definitions)
const forms = createObjectConvertor({ types, profile: stockProfile }, served)

const at = (version: string) => ({
  resource: { group: 'autoscaling', version, resource: 'horizontalpodautoscalers' },
  kind: { group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' },
})
const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }
const first = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v1',
  metadata: { name: 'h' },
  spec: { maxReplicas: 3, scaleTargetRef },
}

describe('forms of objects', () => {
  it('P73 are all the versions that are served', () => {
    const versions = forms.equivalents(at('v1').resource, '').map(({ kind }) => kind.version)
    expect(versions.toSorted()).toEqual(['v1', 'v2'])
    expect(forms.equivalents({ group: 'x', version: 'v1', resource: 'y' }, '')).toEqual([])
  })

  it('P44 of a sub-resource have its own kind', () => {
    const [scale] = forms.equivalents({ group: 'apps', version: 'v1', resource: 'deployments' }, 'scale')
    expect(scale?.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' })
    expect(forms.equivalents({ group: '', version: 'v1', resource: 'configmaps' }, 'scale')).toEqual([])
  })

  it('P331 lead from one version to the other and back, filled in', () => {
    const { object: stored, versioned: shown } = forms.fromVersion(first as never, at('v1'), at('v1')) as ConvertedObject
    expect(shown).toEqual(forms.toVersion(stored, at('v1')))
    expect(stored['spec']).toMatchObject({ minReplicas: 1, maxReplicas: 3 })
    const second = forms.toVersion(stored, at('v2')) as ApiObject
    expect(second).toMatchObject({ apiVersion: 'autoscaling/v2', spec: { maxReplicas: 3 } })
    const again = forms.fromVersion(structuredClone(second) as never, at('v2'), at('v1')) as ConvertedObject
    expect(forms.toVersion(again.object, at('v1'))).toEqual(forms.toVersion(stored, at('v1')))
  })

  it('tell what is wrong with a value', () => {
    expect(() => forms.fromVersion({ ...first, spec: { maxReplicas: 'three' } } as never, at('v1'), at('v1'))).toThrow(
      'cannot unmarshal string',
    )
  })

  it('stay the same as long as the same is served', () => {
    const before = forms.served
    expect(forms.served).toBe(before)
    served.replace([...definitions])
    expect(forms.served).not.toBe(before)
  })
})
