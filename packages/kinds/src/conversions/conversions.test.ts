import { type ApiObject, createNamingProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { printerOf } from '../catalog/load-printer.ts'
import { conversionBetween } from './index.ts'

describe('conversions', () => {
  it('changes only the apiVersion between versions of the same shape [P331]', () => {
    const object = { apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata: { name: 'c' }, spec: { schedule: '@daily' } }
    const gvk = (version: string) => ({ group: 'batch', version, kind: 'CronJob' })
    const converted = conversionBetween(gvk('v1beta1'), gvk('v1'))(object)
    expect(converted).toEqual({ ...object, apiVersion: 'batch/v1' })
    expect(object.apiVersion).toBe('batch/v1beta1')
  })

  it.each([
    [
      'ResourceClaim',
      {
        devices: {
          requests: [
            { name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 },
            { name: 'b', firstAvailable: [{ name: 's', deviceClassName: 'c' }] },
          ],
        },
      },
      {
        devices: {
          requests: [
            { name: 'a', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } },
            { name: 'b', firstAvailable: [{ name: 's', deviceClassName: 'c' }] },
          ],
        },
      },
    ],
    [
      'ResourceClaimTemplate',
      { spec: { devices: { requests: [{ name: 'a', deviceClassName: 'c' }] } } },
      { spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } } },
    ],
    [
      'ResourceSlice',
      { driver: 'd', devices: [{ name: 'a', basic: { attributes: { x: { int: 1 } } } }] },
      { driver: 'd', devices: [{ name: 'a', attributes: { x: { int: 1 } } }] },
    ],
  ])('changes the shape of a %s in v1beta2 and restores it [P331]', (kind, older, newer) => {
    const gvk = (version: string) => ({ group: 'resource.k8s.io', version, kind })
    const object = (version: string, spec: object): ApiObject => ({
      apiVersion: `resource.k8s.io/${version}`,
      kind,
      metadata: {},
      spec,
    })
    const forward = conversionBetween(gvk('v1beta1'), gvk('v1beta2'))
    const back = conversionBetween(gvk('v1beta2'), gvk('v1beta1'))
    expect(forward(object('v1beta1', older))).toEqual(object('v1beta2', newer))
    expect(back(object('v1beta2', newer))).toEqual(object('v1beta1', older))
    expect(conversionBetween(gvk('v1alpha3'), gvk('v1beta1'))(object('v1alpha3', older))).toEqual(object('v1beta1', older))
  })

  it('converts every served version to the storage version and back [P331]', () => {
    for (const each of createCatalog({ runtimeConfig: 'api/all' }).definitions) {
      const same = each.storage.group === each.group && each.storage.version === each.version
      expect([each.toStorage === undefined, each.fromStorage === undefined]).toEqual([same, same])
      const object = {
        apiVersion: each.group === '' ? each.version : `${each.group}/${each.version}`,
        kind: each.kind.kind,
        metadata: { name: 'a' },
      }
      expect(each.fromStorage?.(each.toStorage!(object)).apiVersion ?? object.apiVersion).toBe(object.apiVersion)
    }
  })

  it('accepts groups in the spelling of a profile', async () => {
    const profile = createNamingProfile({ apiDomain: 'api.example' })
    const catalog = createCatalog({ profile })
    const events = catalog.resource({ group: 'events.api.example', version: 'v1', resource: 'events' })
    expect(events?.storage.group).toBe('')
    const converted = events?.toStorage?.({ apiVersion: 'events.api.example/v1', kind: 'Event', metadata: {}, note: 'n' })
    expect(converted).toMatchObject({ apiVersion: 'v1', message: 'n' })
    expect(events?.fromStorage?.(converted!).apiVersion).toBe('events.api.example/v1')
    const slices = catalog.resource({ group: 'discovery.api.example', version: 'v1', resource: 'endpointslices' })
    expect(slices?.kind.type().group).toBe('discovery.api.example')
    expect((await printerOf(slices!)).columns[1]?.name).toBe('AddressType')
    expect(slices?.storage).toMatchObject({ group: 'discovery.api.example', prefix: 'endpointslices' })
    expect(catalog.kind({ group: 'meta.api.example', version: 'v1', kind: 'Table' })).toBeDefined()
    expect(catalog.kind({ group: '', version: 'v1', kind: 'Endpoints' })?.replacement?.group).toBe('discovery.api.example')
    const definitions = catalog.resource({
      group: 'apiextensions.api.example',
      version: 'v1',
      resource: 'customresourcedefinitions',
    })
    expect(definitions?.storage.group).toBe('apiextensions.api.example')
    expect(catalog.definitions).toHaveLength(createCatalog().definitions.length)
  })
})
