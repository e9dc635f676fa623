import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { ResourceClaim, ResourceClaimTemplate } from '../../group-versions/resource-v1beta1.generated.ts'
import { ResourceClaim as NewResourceClaim } from '../../group-versions/resource-v1beta2.generated.ts'
import { allGates, noGates, texts } from './testing.ts'

beforeAll(() => loadCel())

const claim = (devices: object) =>
  ResourceClaim.create({ metadata: { name: 'c', resourceVersion: '1' }, spec: { devices } as never })
const newClaim = (devices: object) =>
  NewResourceClaim.create({ metadata: { name: 'c', resourceVersion: '1' }, spec: { devices } as never })
const plain = { name: 'r', deviceClassName: 'gpu' }
const errors = (devices: object, context: object = allGates) => texts(ResourceClaim.validate(claim(devices), context))

describe('requests for devices', () => {
  it('are for one device by default', () => {
    const firstAvailable = [
      { name: 'a', deviceClassName: 'gpu', allocationMode: 'All' },
      { name: 'b', deviceClassName: 'gpu' },
    ]
    const requests = [plain, { name: 's', firstAvailable }, { name: 't', deviceClassName: 'gpu', allocationMode: 'All' }]
    const one = { allocationMode: 'ExactCount', count: 1 }
    const alternatives = [firstAvailable[0], { ...firstAvailable[1], ...one }]
    expect(ResourceClaim.default(claim({ requests })).spec.devices?.requests).toMatchObject([
      { ...plain, ...one },
      { name: 's', firstAvailable: alternatives },
      requests[2] as object,
    ])
    expect(NewResourceClaim.default(newClaim({ requests: [{ name: 'r', exactly: {} }] })).spec.devices?.requests).toEqual([
      { name: 'r', exactly: { deviceClassName: '', ...one } },
    ])
  })

  it('are exact ones or lists of alternatives', () => {
    const firstAvailable = [{ name: 'a', deviceClassName: 'gpu' }]
    const oneOf = 'exactly one of `exactly` or `firstAvailable` is required'
    expect(errors({ requests: [plain, { name: 's', firstAvailable }] })).toEqual([])
    expect(errors({ requests: [{ name: 'r' }, { ...plain, name: 's', firstAvailable }] })).toEqual([
      `spec.devices.requests[0]: Required value: ${oneOf}`,
      `spec.devices.requests[1]: Invalid value: "null": ${oneOf}, but multiple fields are set`,
    ])
    expect(errors({ requests: [{ name: 'r', adminAccess: false }] })).toEqual([
      'spec.devices.requests[0].exactly.deviceClassName: Required value',
      'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "": supported values: "All", "ExactCount"',
    ])
  })

  it('report each error in the form of later versions', () => {
    const request = {
      ...plain,
      count: -1,
      selectors: [{}, { cel: { expression: 'device.driver' } }],
      tolerations: [{ key: 'k', operator: 'Exists', value: 'v', effect: 'PreferNoSchedule' }],
    }
    const found = errors({ requests: [request, { ...plain, allocationMode: 'All', count: 2 }] })
    const exactly = 'spec.devices.requests[0].exactly'
    expect(found).toEqual([
      `${exactly}.selectors[0].cel: Required value`,
      `${exactly}.selectors[1].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string`,
      `${exactly}.count: Invalid value: -1: must be greater than zero`,
      `${exactly}.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``,
      `${exactly}.tolerations[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule"`,
      `spec.devices.requests[1].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`,
      'spec.devices.requests[1].name: Duplicate value: "r"',
    ])
  })

  it('are referred to by name', () => {
    const noRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    const matchAttribute = 'd.example.com/model'
    const constraints = [{ requests: ['r', 'x', 'r/a', 'a/b/c', 'r'], matchAttribute }, { matchAttribute: 'model' }, {}]
    expect(errors({ requests: [plain], constraints })).toEqual([
      `spec.devices.constraints[0].requests[1]: Invalid value: "x": ${noRequest}`,
      `spec.devices.constraints[0].requests[2]: Invalid value: "r/a": ${noRequest}`,
      `spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": ${noRequest}`,
      'spec.devices.constraints[0].requests[4]: Duplicate value: "r"',
      'spec.devices.constraints[1].matchAttribute: Invalid value: "model": must include a domain',
      'spec.devices.constraints[2].matchAttribute: Required value',
    ])
  })

  it('are limited in number', () => {
    const many = Array.from({ length: 33 }, (_, i) => ({ ...plain, name: `r${i}` }))
    expect(errors({ requests: many })).toEqual(['spec.devices.requests: Too many: 33: must have at most 32 items'])
  })

  it('have expressions of a bounded cost', () => {
    const costly =
      'device.attributes.all(d, device.attributes[d].all(k, device.attributes.all(e, device.attributes[e].all(l, k.contains(l)))))'
    expect(errors({ requests: [{ ...plain, selectors: [{ cel: { expression: costly } }] }] })).toEqual([
      'spec.devices.requests[0].exactly.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit',
    ])
  })
})

it('parameters of drivers are JSON objects of a limited size', () => {
  const parameters = [{ a: 1 }, null, [1], 'x', { a: 'x'.repeat(10 * 1024) }]
  const config = parameters.map((each) => ({ opaque: { driver: 'd.example.com', parameters: each } }))
  const at = (i: number) => `spec.devices.config[${i}].opaque.parameters`
  const noObject = 'Invalid value: "<value omitted>": parameters must be a valid JSON object'
  expect(errors({ requests: [plain], config: [...config, {}] })).toEqual([
    `${at(1)}: Required value`,
    `${at(2)}: ${noObject}`,
    `${at(3)}: ${noObject}`,
    `${at(4)}: Too long: may not be more than 10240 bytes`,
    'spec.devices.config[5].opaque: Required value',
  ])
})

describe('claims', () => {
  it('lose members whose gates are off', () => {
    const requests = [{ name: 'r', firstAvailable: [{ name: 'a', deviceClassName: 'gpu' }] }]
    expect(errors({ requests }, noGates)).toEqual([
      'spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    ])
  })

  it('are immutable, whatever version they are written in', () => {
    const old = claim({ requests: [plain] })
    expect(texts(ResourceClaim.validateUpdate(old, old, allGates))).toEqual([])
    const changed = claim({ requests: [{ ...plain, count: 2 }], constraints: [{ requests: ['r'], matchAttribute: 'd.e/x' }] })
    const printed = [
      'Requests:[]resource.DeviceRequest{resource.DeviceRequest{Name:"r", Exactly:(*resource.ExactDeviceRequest)(0x0), FirstAvailable:[]resource.DeviceSubRequest(nil)}}',
      'Constraints:[]resource.DeviceConstraint{resource.DeviceConstraint{Requests:[]string{"r"}, MatchAttribute:(*resource.FullyQualifiedName)(0x0)}}',
      'Config:[]resource.DeviceClaimConfiguration(nil)',
    ].join(', ')
    const value = `resource.ResourceClaimSpec{Devices:resource.DeviceClaim{${printed}}}`
    expect(texts(ResourceClaim.validateUpdate(changed, old, allGates))).toEqual([
      `spec: Invalid value: ${value}: field is immutable`,
    ])
    const stored = newClaim({ requests: [{ name: 'r', firstAvailable: [{ name: 'a', deviceClassName: 'gpu' }] }] })
    expect(texts(NewResourceClaim.validateUpdate(stored, stored, allGates))).toEqual([])
  })

  it('have administrative access in namespaces with a label only', () => {
    const requests = [plain, { ...plain, name: 's', adminAccess: true }]
    const found = (labels: Record<string, string>) =>
      errors({ requests }, { ...allGates, objects: { get: () => ({ metadata: { labels } }) } })
    expect(found({ 'resource.k8s.io/admin-access': 'true' })).toEqual([])
    expect(found({})).toEqual([
      'spec.devices.requests[1].adminAccess: Forbidden: admin access to devices requires the `resource.k8s.io/admin-access: true` label on the containing namespace',
    ])
  })
})

describe('templates of claims', () => {
  const template = (metadata: object, requests: object[] = [plain]) =>
    ResourceClaimTemplate.create({
      metadata: { name: 't', resourceVersion: '1' },
      spec: { metadata, spec: { devices: { requests } } } as never,
    })

  it('have labels and annotations but no other metadata', () => {
    const metadata = { name: 'n', uid: 'u', creationTimestamp: null, labels: { 'a b': 'c' }, finalizers: [] }
    const found = texts(ResourceClaimTemplate.validate(template(metadata), allGates))
    expect(found.map((text) => text.slice(0, 55))).toEqual([
      'spec.metadata.labels: Invalid value: "a b": name part m',
      'spec.metadata.name: Forbidden: cannot be set',
      'spec.metadata.uID: Forbidden: cannot be set',
      'spec.metadata.finalizers: Forbidden: cannot be set',
    ])
  })

  it('are immutable', () => {
    const old = template({ labels: { a: 'b' } })
    expect(texts(ResourceClaimTemplate.validateUpdate(old, old, allGates))).toEqual([])
    const [found = ''] = texts(ResourceClaimTemplate.validateUpdate(template({ annotations: { a: 'b' } }), old, allGates))
    expect(found).toContain('spec: Invalid value: resource.ResourceClaimTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:"", ')
    expect(found).toContain('CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), DeletionTimestamp:<nil>, ')
    expect(found).toContain('Labels:map[string]string(nil), Annotations:map[string]string{"a":"b"}, ')
  })
})
