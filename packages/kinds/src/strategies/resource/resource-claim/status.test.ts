import { beforeAll, describe, expect, it } from 'vitest'
import { runPreparation } from '../../../preparation.ts'
import type { ResourceClaim, ResourceClaimStatus } from '../../../types/resource-v1beta1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { testContext } from '../../testing/context.ts'
import { allGates, noGates, texts } from '../testing.ts'
import { resourceClaimStrategy } from './strategy.ts'

const claim = (status: object = {}, metadata: object = {}) =>
  ({
    apiVersion: 'resource.k8s.io/v1beta1',
    kind: 'ResourceClaim',
    metadata: { name: 'c', namespace: 'default', resourceVersion: '1', ...metadata },
    spec: { devices: { requests: [{ name: 'r', deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 }] } },
    status,
  }) as ResourceClaim

beforeAll(() => resourceClaimStrategy.ready?.(claim(), undefined))

const context = testContext(allGates)
const subresource = resourceClaimStrategy.subresources?.['status']
const errors = (status: object, old: object = {}, metadata: object = {}) =>
  texts(runValidation(subresource?.validateUpdate(claim(status, metadata), claim(old, metadata), context)))

const device = { driver: 'd.example.com', pool: 'p', device: 'd0' }
const allocation = { devices: { results: [{ request: 'r', ...device }] } }
const consumer = { resource: 'pods', name: 'p', uid: '1' }

function prepared(status: object, old: object, features = allGates.features): ResourceClaimStatus | undefined {
  const draft = claim(status, { labels: { a: 'b' } })
  runPreparation(subresource?.prepareForUpdate(draft, claim(old), { ...context, features }))
  expect(draft.metadata.labels).toBeUndefined()
  return draft.status
}

describe('the status of a claim', () => {
  it('is written by its sub-resource only', () => {
    const made = claim({ reservedFor: [consumer] })
    runPreparation(resourceClaimStrategy.prepareForCreate?.(made, context))
    expect(made.status).toEqual({})
    expect(resourceClaimStrategy.resetFields).toEqual({ '': [['status']], status: [['spec']] })
  })

  it('allocates devices for requests', () => {
    expect(errors({ allocation })).toEqual([])
    const results = [{ request: 'x', driver: '', pool: '', device: 'd0' }]
    const config = [{ source: 'x', opaque: { driver: 'd.example.com', parameters: {} } }]
    expect(errors({ allocation: { devices: { results, config }, nodeSelector: { nodeSelectorTerms: [] } } })).toEqual([
      `status.allocation.devices.results[0].request: Invalid value: "x": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'`,
      'status.allocation.devices.results[0].driver: Required value',
      expect.stringMatching(/^status.allocation.devices.results\[0\].driver: Invalid value: "": a lowercase RFC 1123 subdomain/),
      'status.allocation.devices.results[0].pool: Required value',
      'status.allocation.devices.config[0].source: Unsupported value: "x": supported values: "FromClaim", "FromClass"',
      'status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term',
    ])
  })

  it('keeps the allocation until it is removed', () => {
    const other = { devices: { results: [{ request: 'r', ...device, device: 'd1' }] } }
    const [found = ''] = errors({ allocation: other }, { allocation })
    expect(found).toMatch(/^status.allocation: Invalid value: resource.AllocationResult\{Devices:.*\}: field is immutable$/)
    expect(found).toContain('Device:"d1", AdminAccess:(*bool)(nil), Tolerations:[]resource.DeviceToleration(nil)}')
    expect(errors({}, { allocation })).toEqual([])
  })

  it('reserves allocated devices', () => {
    expect(errors({ allocation, reservedFor: [consumer] })).toEqual([])
    expect(errors({ reservedFor: [consumer, { ...consumer, resource: '' }] })).toEqual([
      'status.reservedFor[1].resource: Required value',
      'status.reservedFor[1].uid: Duplicate value: "1"',
      'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
    ])
    const deleted = { deletionTimestamp: '2020-01-01T00:00:00Z' }
    const before = { allocation, reservedFor: [consumer] }
    expect(errors(before, before, deleted)).toEqual([])
    expect(errors({ allocation, reservedFor: [{ ...consumer, uid: '2' }] }, before, deleted)).toEqual([
      'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    ])
  })

  it('has reports about allocated devices', () => {
    const networkData = { ips: ['10.0.0.1/24', '10.0.0.1', '::ffff:10.0.0.1/120'], interfaceName: 'x'.repeat(257) }
    const devices = [{ ...device, data: [1], networkData }, { ...device, device: 'd1' }, device]
    expect(errors({ allocation, devices })).toEqual([
      'status.devices[0].data: Invalid value: "<value omitted>": parameters must be a valid JSON object',
      'status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes',
      'status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      'status.devices[0].networkData.ips[2]: Invalid value: "::ffff:10.0.0.1/120": must be in canonical form ("10.0.0.1/24")',
      'status.devices[1]: Invalid value: d.example.com/p/d1: must be an allocated device in the claim',
      'status.devices[2].deviceID: Duplicate value: d.example.com/p/d0',
    ])
  })

  it('loses reports with the allocation, and without the gate', () => {
    const full = { allocation, devices: [device] }
    expect(prepared(full, { allocation })).toEqual(full)
    expect(prepared({ devices: [device] }, full)).toEqual({})
    expect(prepared(full, { allocation }, noGates.features)).toEqual({ allocation })
    expect(prepared(full, full, noGates.features)).toEqual(full)
  })

  it('grants administrative access in namespaces with a label only', () => {
    const admin = { devices: { results: [{ request: 'r', ...device, adminAccess: true }] } }
    const objects = { get: () => ({ metadata: {} }) as never }
    const found = (old: object) =>
      texts(runValidation(subresource?.validateUpdate(claim({ allocation: admin }), claim(old), { ...context, objects })))
    expect(found({})).toEqual([
      'status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the `resource.k8s.io/admin-access: true` label on the containing namespace',
    ])
    expect(found({ allocation: admin })).toEqual([])
  })
})
