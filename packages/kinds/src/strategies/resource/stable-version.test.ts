import { type ApiObject, createFeatures } from '@krmkit/meta'
import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { conversionBetween } from '../../conversions/index.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { testContext } from '../testing/context.ts'
import { resourceClaimStrategy } from './resource-claim/strategy.ts'
import { resourceSliceStrategy } from './resource-slice/strategy.ts'

beforeAll(() => loadCel())

const at = (release: string, gates: Readonly<Record<string, boolean>> = {}) =>
  testContext({ features: createFeatures(release, gates) })
const object = (kind: string, spec: object) =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind,
    metadata: { name: 'x', ...(kind === 'ResourceSlice' ? {} : { namespace: 'n' }) },
    spec,
  }) as ApiObject & { readonly spec: Record<string, unknown> }
const claim = (...requests: object[]) => object('ResourceClaim', { devices: { requests } })

describe('resource claims of v1', () => {
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 }
  const found = async (made: ApiObject) => {
    await resourceClaimStrategy.ready?.(made, undefined)
    return runValidation(resourceClaimStrategy.validate?.(made, at('1.34'))).map(({ field }) => field)
  }

  it('nest exact requests', async () => {
    expect(await found(claim({ name: 'r', exactly }))).toEqual([])
    expect(await found(claim({ name: 'r', exactly: {} }))).toEqual([
      'spec.devices.requests[0].exactly.deviceClassName',
      'spec.devices.requests[0].exactly.allocationMode',
    ])
    expect(await found(claim({ name: 'r' }))).toEqual(['spec.devices.requests[0]'])
    const both = claim({ name: 'r', exactly, firstAvailable: [{ name: 'a', ...exactly }] })
    expect(await found(both)).toEqual(['spec.devices.requests[0]'])
  })

  it('have defaults', () => {
    const made = claim({ name: 'r', exactly: { deviceClassName: 'gpu' } })
    runPreparation(resourceClaimStrategy.defaults?.(made, 'v1', testContext().profile))
    expect(made.spec['devices']).toEqual({ requests: [{ name: 'r', exactly }] })
  })

  it('lose members behind gates', () => {
    const dropped = (gates: Readonly<Record<string, boolean>>) => {
      const made = claim({ name: 'r', exactly: { ...exactly, adminAccess: true, capacity: { requests: { a: '1' } } } })
      runPreparation(resourceClaimStrategy.prepareForCreate?.(made, at('1.36', gates)))
      return made.spec['devices']
    }
    expect(dropped({ DRAAdminAccess: false, DRAConsumableCapacity: false })).toEqual({ requests: [{ name: 'r', exactly }] })
    expect(dropped({ DRAAdminAccess: true, DRAConsumableCapacity: true })).toEqual({
      requests: [{ name: 'r', exactly: { ...exactly, adminAccess: true, capacity: { requests: { a: '1' } } } }],
    })
  })
})

describe('resource slices of v1', () => {
  const slice = (...devices: object[]) =>
    object('ResourceSlice', {
      driver: 'd.example.com',
      nodeName: 'n',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices,
    })

  it('have devices without basic', async () => {
    const made = slice({ name: 'a', attributes: { x: { int: 1 } } })
    runPreparation(resourceSliceStrategy.defaults?.(made, 'v1', testContext().profile))
    expect(made.spec['devices']).toEqual([{ name: 'a', attributes: { x: { int: 1 } } }])
    await resourceSliceStrategy.ready?.(made, undefined)
    const found = (each: ApiObject) => runValidation(resourceSliceStrategy.validate?.(each, at('1.34'))).map(({ field }) => field)
    expect(found(made)).toEqual([])
    expect(found(slice({ name: 'a', attributes: { x: {} } }))).toEqual(['spec.devices[0].attributes[x]'])
  })

  it('lose members behind gates', () => {
    const dropped = (on: boolean) => {
      const made = slice({
        name: 'a',
        taints: [{ key: 'k' }],
        capacity: { c: { value: '1', requestPolicy: {} } },
        bindsToNode: true,
      })
      const gates = { DRADeviceTaints: on, DRAConsumableCapacity: on, DRADeviceBindingConditions: on }
      runPreparation(resourceSliceStrategy.prepareForCreate?.(made, at('1.36', gates)))
      return made.spec['devices']
    }
    expect(dropped(false)).toEqual([{ name: 'a', capacity: { c: { value: '1' } } }])
    expect(dropped(true)).toMatchObject([{ bindsToNode: true, capacity: { c: { requestPolicy: {} } } }])
  })
})

it('v1 has the shape of v1beta2', () => {
  const kind = (version: string) => ({ group: 'resource.k8s.io', version, kind: 'ResourceClaim' })
  const flat = { ...claim({ name: 'r', deviceClassName: 'gpu' }), apiVersion: 'resource.k8s.io/v1beta1' } as ApiObject
  const nested = conversionBetween(kind('v1beta1'), kind('v1'))(flat)
  expect(nested).toEqual(claim({ name: 'r', exactly: { deviceClassName: 'gpu' } }))
  expect(conversionBetween(kind('v1'), kind('v1beta1'))(nested)).toEqual(flat)
  expect(conversionBetween(kind('v1beta2'), kind('v1'))(nested)).toEqual(nested)
})
