import { type ApiObject, createFeatures } from '@krmkit/meta'
import { errorsAt } from '@krmkit/meta/validation'
import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { runValidation } from '../../validation.ts'
import { testContext } from '../testing/context.ts'
import { deviceClassStrategy } from './device-class/strategy.ts'
import { resourceClaimStrategy } from './resource-claim/strategy.ts'
import { resourceSliceStrategy } from './resource-slice/strategy.ts'

/** Rules of devices of 1.34 to 1.37 that no marker states. */

beforeAll(() => loadCel())

const at = (release: string) => testContext({ features: createFeatures(release, { DRAConsumableCapacity: true }) })
const object = (kind: string, members: object) =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind,
    metadata: { name: 'x', uid: 'u', resourceVersion: '1', ...(kind === 'ResourceClaim' ? { namespace: 'n' } : {}) },
    ...members,
  }) as ApiObject

type Strategy = typeof resourceClaimStrategy

async function errorsOf(strategy: Strategy, made: ApiObject, { release = '1.37', old, status = false }: Options = {}) {
  await strategy.ready?.(made, undefined)
  const context = at(release)
  const rules = status ? strategy.subresources?.['status'] : strategy
  const errors = runValidation(
    old === undefined ? strategy.validate?.(made, context) : rules?.validateUpdate?.(made, old, context),
  )
  return errorsAt(errors, context.features.release).map(({ field, message }) => `${field}: ${message}`)
}

interface Options {
  readonly release?: string
  readonly old?: ApiObject
  readonly status?: boolean
}

describe('slices', () => {
  const slice = (members: object) =>
    object('ResourceSlice', {
      spec: { driver: 'd.example.com', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, ...members },
    })
  const found = (members: object, options?: Options) => errorsOf(resourceSliceStrategy, slice(members), options)
  const many = (count: number, members: object = {}) => Array.from({ length: count }, (_, i) => ({ name: `a${i}`, ...members }))
  const counters = { c: { value: '1' } }

  it('have fewer devices with taints or counters since 1.35', async () => {
    const taints = [{ key: 'k', effect: 'NoSchedule' }]
    expect(await found({ devices: many(65) })).toEqual([])
    expect(await found({ devices: many(65, { taints }) }, { release: '1.34' })).toEqual([])
    expect(await found({ devices: many(65, { taints }) })).toEqual(['spec.devices: Too many: 65: must have at most 64 items'])
  })

  it('share counters in slices of their own since 1.35', async () => {
    const consumesCounters = [{ counterSet: 's', counters }]
    const sharedCounters = [{ name: 's', counters }]
    const devices = [{ name: 'a', consumesCounters }]
    expect(await found({ devices, sharedCounters }, { release: '1.34' })).toEqual([])
    expect(await found({ devices, sharedCounters })).toEqual([
      'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
    ])
    expect(await found({ devices }, { release: '1.34' })).toHaveLength(1)
    expect(await found({ devices })).toEqual([])
    expect(await found({ sharedCounters: many(9, { counters }) })).toEqual([
      'spec.sharedCounters: Too many: 9: must have at most 8 items',
    ])
  })

  it('name duplicates by their place since 1.35', async () => {
    const devices = [{ name: 'a' }, { name: 'a' }]
    expect(await found({ devices }, { release: '1.34' })).toEqual(['spec.devices[1].name: Duplicate value: "a"'])
    expect(await found({ devices })).toEqual(['spec.devices[1]: Duplicate value: "a"'])
  })

  it('bind pods by conditions and failures together', async () => {
    const devices = [{ name: 'a', bindingConditions: ['a', 'a'], bindingFailureConditions: ['a'] }]
    expect(await found({ devices })).toEqual([
      'spec.devices[0].bindingConditions[1]: Duplicate value: "a"',
      'spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
    ])
    expect(await found({ devices: [{ name: 'a', bindingConditions: ['a'] }] })).toEqual([
      'spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
    ])
  })

  it('name the map of a wrong attribute name since 1.36', async () => {
    const devices = [{ name: 'a', attributes: { '/x': { int: 1 } } }]
    expect(await found({ devices }, { release: '1.34' })).toEqual([
      'spec.devices[0].attributes[/x]: Required value: the domain must not be empty',
    ])
    expect(await found({ devices })).toEqual(['spec.devices[0].attributes: Invalid value: "": the domain must not be empty'])
  })
})

describe('claims', () => {
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 }
  const requests = [{ name: 'r', exactly }]
  const claim = (devices: object, status?: object) =>
    object('ResourceClaim', { spec: { devices }, ...(status === undefined ? {} : { status }) })

  it('have constraints on distinct attributes', async () => {
    const found = (constraint: object) => errorsOf(resourceClaimStrategy, claim({ requests, constraints: [constraint] }))
    expect(await found({ distinctAttribute: 'a.example/x' })).toEqual([])
    expect(await found({ distinctAttribute: 'x' })).toEqual([
      'spec.devices.constraints[0].distinctAttribute: Invalid value: "x": a fully qualified name must be a domain and a name separated by a slash',
    ])
    expect(await found({})).toEqual([
      'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    ])
  })

  it('tell shares of a device apart', async () => {
    const shareID = '12345678-1234-1234-1234-123456789abc'
    const device = { driver: 'd.example.com', pool: 'p', device: 'd' }
    const result = { request: 'r', ...device }
    const old = claim({ requests }, {})
    const found = (results: object[], devices: object[] = []) =>
      errorsOf(resourceClaimStrategy, claim({ requests }, { allocation: { devices: { results } }, devices }), {
        old,
        status: true,
      })
    expect(await found([{ ...result, shareID }], [{ ...device, shareID }])).toEqual([])
    expect(await found([{ ...result, shareID }], [device])).toEqual([
      'status.devices[0]: Invalid value: {"Driver":"d.example.com","Pool":"p","Device":"d","ShareID":""}: must be an allocated device in the claim',
    ])
    expect(await found([{ ...result, shareID: 'x' }])).toEqual([
      'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
    ])
    const skipNodeOperations = ['NodePrepareResources']
    expect(await found([{ ...result, skipNodeOperations }])).toEqual([
      'status.allocation.devices.results[0].skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped',
    ])
  })
})

it('device classes name extended resources', async () => {
  const found = (extendedResourceName: string) =>
    errorsOf(deviceClassStrategy, object('DeviceClass', { spec: { extendedResourceName } }))
  expect(await found('example.com/gpu')).toEqual([])
  expect(await found('cpu')).toEqual(['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'])
})
