import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { FieldSet } from '../fieldpath/field-set.ts'
import * as paced from '../paced.ts'
import { applied, type ConfigMap, configMap, entry, owners, second, source, types, update } from '../testing/config-maps.ts'
import { runCounting } from '../testing/counting.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { ignoreManagedFieldsTimestamps } from './ignore-timestamps.direct.ts'
import { managerName } from './manager-name.ts'
import { createTypeConverter } from './type-converter.ts'
import { trackUpdate } from './update.direct.ts'

describe('trackUpdate', () => {
  it('owns all created fields except system-managed ones [P17 P218]', () => {
    const created = update(
      undefined,
      configMap({ k: 'v' }, { labels: { l: '1' }, uid: 'u', resourceVersion: '1', generation: 2 }),
    )
    expect(owners(created)).toEqual({
      'u Update': { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    })
  })

  it('writes complete entries in the member order of kube-apiserver [P20]', () => {
    const created = trackUpdate({
      next: configMap({ k: 'v' }),
      manager: 'u',
      apiVersion: 'v1',
      subresource: 'status',
      now: 1500,
      types,
    })
    expect(JSON.stringify(created.metadata.managedFields)).toBe(
      '[{"manager":"u","operation":"Update","apiVersion":"v1","time":"1970-01-01T00:00:01Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:k":{}}},"subresource":"status"}]',
    )
  })

  it('takes changed fields from other managers [P218]', () => {
    const created = update(undefined, configMap({ k: 'v', l: 'v' }), 'a')
    expect(owners(update(created, configMap({ k: 'w', l: 'v' }), 'b'))).toEqual({
      'a Update': { 'f:data': { '.': {}, 'f:l': {} } },
      'b Update': { 'f:data': { 'f:k': {} } },
    })
  })

  it('uses the name unknown for a manager without a name [P219]', () => {
    expect(owners(update(undefined, configMap({ k: 'v' }), ''))).toHaveProperty('unknown Update')
  })

  it('takes the manager name from fieldManager or User-Agent [P163]', () => {
    expect(managerName('given', 'agent/1')).toBe('given')
    expect(managerName('', 'agent/1 (x)')).toBe('agent')
    expect(managerName(undefined, 'a\u0000b\u0007c/1')).toBe('abc')
    expect(managerName(undefined, `${'é'.repeat(100)}/1`)).toBe('é'.repeat(64))
    expect(managerName(undefined, '/1')).toBe('')
    expect(managerName(undefined, undefined)).toBe('')
  })

  it('keeps owners, entries and timestamps when nothing changes', () => {
    const created = update(undefined, configMap({ k: 'v' }), 'a')
    const again = update(created, configMap({ k: 'v' }), 'b', 5 * second)
    expect(again.metadata.managedFields).toBe(created.metadata.managedFields)
  })

  it("moves a manager's timestamp only when it changes something", () => {
    const created = update(undefined, configMap({ k: 'v', l: 'v' }), 'a')
    const changed = update(created, configMap({ k: 'w', l: 'v' }), 'b', 5 * second)
    expect(changed.metadata.managedFields?.map(({ manager, time }) => `${manager} ${time}`)).toEqual([
      'a 1970-01-01T00:00:00Z',
      'b 1970-01-01T00:00:05Z',
    ])
  })

  it('keeps one entry per version and sub-resource', () => {
    const two = createTypeConverter({ v1: () => source.struct('core/v1.ConfigMap'), v2: () => source.struct('core/v1.Secret') })
    const created = deepFreeze(trackUpdate({ next: configMap({ k: 'v' }), manager: 'a', apiVersion: 'v1', now: 0, types: two }))
    const status = trackUpdate({
      live: created,
      next: configMap({ k: 'w' }),
      manager: 'a',
      apiVersion: 'v1',
      subresource: 'status',
      now: 0,
      types: two,
    })
    expect(status.metadata.managedFields?.map(({ subresource, fieldsV1 }) => [subresource, fieldsV1])).toEqual([
      [undefined, { 'f:data': { '.': {} } }].map((each) => (typeof each === 'object' ? { 'f:data': {} } : each)),
      ['status', { 'f:data': { 'f:k': {} } }],
    ])
  })

  it('merges the oldest update entries beyond ten', () => {
    let live: ConfigMap | undefined
    const data: Record<string, string> = {}
    for (let i = 0; i < 12; i++) {
      data[`k${i}`] = 'v'
      live = update(live, configMap({ ...data }), `m${String(i).padStart(2, '0')}`, i * second)
    }
    const entries = live?.metadata.managedFields ?? []
    expect(entries.map(({ manager, time }) => `${manager} ${time?.slice(17, 19)}`)).toEqual([
      'ancient-changes 02',
      ...[3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) => `m${String(i).padStart(2, '0')} ${String(i).padStart(2, '0')}`),
    ])
    expect(entries[0]?.fieldsV1).toEqual({ 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } })
  })

  it('drops the owners of an object that does not match its type, or keeps those of the live object', () => {
    const services = createTypeConverter({ v1: () => source.struct('core/v1.Service') })
    const live = deepFreeze({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', managedFields: [entry({})] },
      spec: { ports: [{ port: 1 }] },
    })
    const next = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: ['x'] } }
    const tracked = trackUpdate({ live, next, manager: 'u', apiVersion: 'v1', now: 0, types: services })
    expect(tracked.metadata).toEqual({ name: 's' })
    const kept = trackUpdate({ ...{ live, next, manager: 'u', apiVersion: 'v1', types: services }, keepsLiveOnMismatch: true })
    expect(kept.metadata).toEqual(live.metadata)
    const created = trackUpdate({ next, manager: 'u', apiVersion: 'v1', types: services, keepsLiveOnMismatch: true })
    expect(created.metadata).toEqual({ name: 's' })
  })

  it('does not own reset fields', () => {
    const resetFields = { v1: { exclude: FieldSet.of(['f:data', 'f:hidden']) } }
    const created = trackUpdate({
      next: configMap({ k: 'v', hidden: 'x' }),
      manager: 'u',
      apiVersion: 'v1',
      resetFields,
      now: 0,
      types,
    })
    expect(owners(created)).toEqual({ 'u Update': { 'f:data': { '.': {}, 'f:k': {} } } })
  })

  it('drops entries of unknown versions', () => {
    const live = deepFreeze(configMap({ k: 'v' }, { managedFields: [entry({ apiVersion: 'v9' })] as unknown as JsonObject[] }))
    expect(update(live, configMap({ k: 'v' })).metadata.managedFields).toBeUndefined()
  })
})

describe('ignoreManagedFieldsTimestamps', () => {
  it('returns the live object when only timestamps differ', () => {
    const live = applied(undefined, { k: 'v' }, 'a')
    const moved = {
      ...live,
      metadata: {
        ...live.metadata,
        managedFields: live.metadata.managedFields?.map((each) => ({ ...each, time: '2030-01-01T00:00:00Z' })),
      },
    } as ConfigMap
    expect(ignoreManagedFieldsTimestamps(live, moved)).toBe(live)
    expect(ignoreManagedFieldsTimestamps(live, { ...moved, data: { k: 'w' } })).toEqual({ ...moved, data: { k: 'w' } })
    expect(ignoreManagedFieldsTimestamps(live, live)).toBe(live)
  })

  it('gives the same result in steps', () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 'v']))
    const live = applied(undefined, wide, 'a')
    const withEntry = (change: object) => {
      const managedFields = live.metadata.managedFields?.map((each) => ({ ...structuredClone(each), ...change }))
      return { ...live, metadata: { ...live.metadata, managedFields } } as ConfigMap
    }
    const moved = withEntry({ time: '2030-01-01T00:00:00Z' })
    const others = [moved, { ...moved, data: { k: 'w' } }, withEntry({ manager: 'b' }), withEntry({ fieldsV1: {} }), live]
    const inSteps = others.map((next) => runCounting(paced.ignoreManagedFieldsTimestamps(live, next)))
    expect(inSteps.map(({ value }) => value)).toEqual(others.map((next) => ignoreManagedFieldsTimestamps(live, next)))
    expect(inSteps[0]?.value).toBe(live)
    expect(inSteps[0]?.steps).toBeGreaterThan(5)
  })
})
