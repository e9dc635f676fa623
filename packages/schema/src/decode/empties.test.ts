import { runAtOnce } from '@krmkit/base/work'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryObject } from '../../testdata/arbitrary.ts'
import { testTypes } from '../../testdata/types.ts'
import { decode } from './decode.direct.ts'
import { decode as pacedDecode } from './decode.ts'
import { applyDefaults } from './defaults.direct.ts'
import { dropEmpties } from './empties.direct.ts'

const types = testTypes()
const configMap = types.struct('core/v1.ConfigMap')
const pod = types.struct('core/v1.Pod')

describe('kept empty values', () => {
  it('keeps empty lists and maps only at and below the paths', () => {
    const value = {
      metadata: { labels: {} },
      spec: { overhead: {}, tolerations: [], containers: [{ name: 'c', args: [], ports: [], resources: { limits: {} } }] },
    }
    const keepEmpties = [
      ['spec', 'overhead'],
      ['spec', 'containers', 'ports'],
      ['spec', 'containers', 'resources'],
    ]
    const { object } = decode(pod, value, { keepEmpties })
    expect(object).toMatchObject({
      metadata: { creationTimestamp: null },
      spec: { containers: [{ name: 'c', ports: [], resources: { limits: {} } }], overhead: {} },
    })
    expect(JSON.stringify(object)).not.toMatch(/labels|tolerations|args/)
    expect(runAtOnce(pacedDecode(pod, value, { keepEmpties })).object).toEqual(object)
  })

  it('keeps neither null nor empty strings', () => {
    const { object } = decode(pod, { spec: { overhead: null, nodeName: '' } }, { keepEmpties: [['spec']] })
    expect(object['spec']).toEqual({ containers: null })
  })

  it('keeps empty values next to members that defaults fill in', () => {
    const value = { spec: { containers: [], overhead: {} } }
    const object = applyDefaults(pod, decode(pod, value, { keepEmpties: [['spec']] }).object)
    expect(object['spec']).toMatchObject({ overhead: {} })
  })

  it('dropEmpties restores the canonical form', () => {
    const property = fc.property(arbitraryObject(pod), (value) => {
      const keepEmpties = [['metadata'], ['spec'], ['status']]
      const { object } = decode(pod, value, { keepEmpties })
      expect(dropEmpties(pod, object, keepEmpties)).toEqual(decode(pod, value).object)
    })
    fc.assert(property, { numRuns: 100 })
  })

  it('dropEmpties covers schemas with alternatives', () => {
    const type = types.struct('apiextensions/v1.JSONSchemaProps')
    const inner = { type: 'object', properties: {}, required: [] }
    const value = { items: [inner], additionalProperties: inner, not: { items: inner }, allOf: [] }
    const keepEmpties = ['items', 'additionalProperties', 'not', 'allOf'].map((name) => [name])
    const { object } = decode(type, value, { keepEmpties })
    expect(object).toEqual(value)
    const plain = { items: [{ type: 'object' }], additionalProperties: { type: 'object' }, not: { items: { type: 'object' } } }
    expect(dropEmpties(type, object, keepEmpties)).toEqual(plain)
  })

  it('dropEmpties returns an object without empty values itself', () => {
    const { object } = decode(configMap, { data: { a: '' } }, { keepEmpties: [['data']] })
    expect(dropEmpties(configMap, object, [['data'], ['binaryData']])).toBe(object)
  })
})
