import { fakeClock } from '@krmkit/meta'
import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { ResourceSlice } from '../../../group-versions/resource-v1beta1.generated.ts'
import { ResourceSlice as NewResourceSlice } from '../../../group-versions/resource-v1beta2.generated.ts'
import { runPreparation } from '../../../preparation.ts'
import { allGates, noGates, texts } from '../testing.ts'
import { resourceSliceStrategy } from './strategy.ts'

beforeAll(() => loadCel())

const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
const base = { driver: 'd.example.com', pool, nodeName: 'n' }
const slice = (spec: object) =>
  ResourceSlice.create({ metadata: { name: 's', resourceVersion: '1' }, spec: { ...base, ...spec } as never })
const errors = (spec: object, context: object = allGates) => texts(ResourceSlice.validate(slice(spec), context))
const device = (basic: object, name = 'd') => ({ name, basic })

describe('resource slices', () => {
  it('show the parts of a device, and when it was tainted', () => {
    const taint = { key: 'k', effect: 'NoSchedule' }
    const old = { ...taint, timeAdded: '2020-01-01T00:00:00Z' }
    const devices = [{ name: 'a' }, device({ taints: [taint, old] }, 'b')]
    const [first, second] = ResourceSlice.default(slice({ devices })).spec.devices ?? []
    expect(first).toEqual({ name: 'a', basic: {} })
    expect(second?.basic?.taints?.[0]?.timeAdded).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(second?.basic?.taints?.[1]).toEqual(old)
    const defaulted = { spec: { devices: [{ name: 'a', taints: [taint] }] } }
    runPreparation(
      resourceSliceStrategy.defaults?.(defaulted as never, 'v1beta2', allGates as never, { clock: fakeClock(1_600_000_000_900) }),
    )
    expect(defaulted.spec.devices).toEqual([{ name: 'a', taints: [{ ...taint, timeAdded: '2020-09-13T12:26:40Z' }] }])
  })

  it('name a driver and a pool', () => {
    expect(errors({})).toEqual([])
    expect(errors({ driver: 'D', pool: { name: 'a/B', generation: -1, resourceSliceCount: 0 } })).toEqual([
      expect.stringMatching(/^spec.pool.name: Invalid value: "B": a lowercase RFC 1123 subdomain/),
      'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
    ])
  })

  it('say in one way which nodes can use them', () => {
    const oneOf = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
    expect(errors({ nodeName: '', allNodes: false })).toEqual([`spec: Required value: ${oneOf}`])
    expect(errors({ allNodes: true })).toEqual([
      `spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${oneOf}, but multiple fields are set`,
    ])
    const nodeSelectorTerms = [{ matchFields: [] }, { matchExpressions: [{ key: 'a', operator: 'Exists' }] }]
    expect(errors({ nodeName: '', nodeSelector: { nodeSelectorTerms } })).toEqual([
      'spec.nodeSelector.nodeSelectorTerms: Invalid value: []core.NodeSelectorTerm{core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement(nil), MatchFields:[]core.NodeSelectorRequirement(nil)}, core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement{core.NodeSelectorRequirement{Key:"a", Operator:"Exists", Values:[]string(nil)}}, MatchFields:[]core.NodeSelectorRequirement(nil)}}: must have exactly one node selector term',
    ])
  })

  it('distinguish zero values from absent ones in later versions', () => {
    const spec = { ...base, nodeName: '', allNodes: false }
    const newer = NewResourceSlice.create({ metadata: { name: 's', resourceVersion: '1' }, spec })
    const requestVersion = { group: 'resource.k8s.io', version: 'v1beta2' }
    expect(texts(NewResourceSlice.validate(newer, { ...allGates, requestVersion })).slice(0, 2)).toEqual([
      'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
      'spec.allNodes: Invalid value: false: must be either unset or set to true',
    ])
  })

  it('have devices with attributes, capacities and taints', () => {
    const attributes = { a: { string: 'x', int: 1 }, b: {}, c: { version: '1' }, 'x-y': { bool: false }, 'd.e/z': { int: 0 } }
    const taints = [{ key: 'k', value: 'v v', effect: 'x' }]
    const at = 'spec.devices[0]'
    const pointers = 'IntValue:(*int64)(0x0), BoolValue:(*bool)(nil), StringValue:(*string)(0x0), VersionValue:(*string)(nil)'
    expect(errors({ devices: [device({ attributes, taints }), device({})] })).toEqual([
      `${at}.attributes[a]: Invalid value: resource.DeviceAttribute{${pointers}}: exactly one value must be specified`,
      `${at}.attributes[b]: Required value: exactly one value must be specified`,
      `${at}.attributes[c].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0`,
      expect.stringMatching(/^spec.devices\[0\].attributes\[x-y\]: Invalid value: "x-y": a valid C identifier/),
      expect.stringMatching(/^spec.devices\[0\].taints\[0\].value: Invalid value: "v v": a valid label/),
      `${at}.taints[0].effect: Unsupported value: "x": supported values: "NoExecute", "NoSchedule"`,
      'spec.devices[1].name: Duplicate value: "d"',
    ])
  })

  it('share counters among devices', () => {
    const sharedCounters = [{ name: 's', counters: { memory: { value: '8Gi' } } }]
    const consumes = (counterSet: string, name: string) => ({
      consumesCounters: [{ counterSet, counters: { [name]: { value: '1' } } }],
    })
    const devices = [device(consumes('s', 'memory')), device(consumes('s', 'cores'), 'e'), device(consumes('x', 'memory'), 'f')]
    expect(errors({ sharedCounters, devices })).toEqual([
      'spec.devices[1].consumesCounters[0].counters: Invalid value: "cores": must reference a counter defined in the ResourceSlice sharedCounters',
      'spec.devices[2].consumesCounters[0].counterSet: Invalid value: "x": must reference a counterSet defined in the ResourceSlice sharedCounters',
    ])
    expect(errors({ sharedCounters, devices }, noGates)).toEqual([])
  })

  it('may leave the nodes to the devices', () => {
    const needed =
      'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
    const devices = [device({ nodeName: 'n' }), device({}, 'e'), device({ allNodes: true, nodeName: 'n' }, 'f')]
    expect(errors({ nodeName: '', perDeviceNodeSelection: true, devices })).toEqual([
      `spec.devices[1]: Required value: ${needed}`,
      `spec.devices[2]: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${needed}`,
    ])
    expect(errors({ devices: [device({ nodeName: 'n' })] })).toEqual([
      'spec.devices[0]: Invalid value: "null": `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
    ])
  })

  it('keep their driver, pool and node', () => {
    const changed = slice({ driver: 'e.example.com', pool: { ...pool, name: 'q', generation: 2 }, nodeName: '', allNodes: true })
    expect(texts(ResourceSlice.validateUpdate(changed, slice({}), allGates))).toEqual([
      'spec.pool.name: Invalid value: "q": field is immutable',
      'spec.driver: Invalid value: "e.example.com": field is immutable',
      'spec.nodeName: Invalid value: "null": field is immutable',
    ])
  })

  it('are selected by node and driver', () => {
    const { selectableFields } = resourceSliceStrategy
    expect(selectableFields?.['spec.nodeName']?.(slice({}))).toBe('n')
    expect(selectableFields?.['spec.driver']?.(slice({}))).toBe('d.example.com')
    expect(selectableFields?.['spec.driver']?.({ metadata: { name: 'a' } } as never)).toBe('')
  })
})
