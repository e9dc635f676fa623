import type { ApiObject, JsonObject, ManagedFieldsEntry } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { FieldSet } from '../fieldpath/field-set.ts'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { typedSchemaFromOpenApi } from '../typed/from-openapi.ts'
import { type ApplyRequest, type ApplyResult, applyPatch } from './apply.ts'
import { conflictError } from './conflicts.ts'
import { managerName } from './manager-name.ts'
import { parentManagedFields, scaleManagedFields } from './scale.ts'
import { settleTimestamps } from './timestamps.ts'
import { deducedTypes, managedTypes } from './types.ts'
import { isReset, trackUpdate } from './update.ts'
import { managedFieldsProblem } from './validate.ts'

const source = createTypeSource(modelFiles())
const types = managedTypes({ v1: () => source.struct('core/v1.ConfigMap') })
const second = 1000

interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

function configMap(data: Record<string, string>, metadata: JsonObject = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'x', ...metadata }, data }
}

function update(live: ConfigMap | undefined, next: ConfigMap, manager = 'u', now = 0): ConfigMap {
  return deepFreeze(trackUpdate({ live, next, manager, apiVersion: 'v1', now, types }))
}

function apply(
  live: ConfigMap | undefined,
  data: Record<string, string>,
  manager: string,
  more: Partial<ApplyRequest> = {},
): ApplyResult {
  return applyPatch({ live, applied: configMap(data), manager, force: false, apiVersion: 'v1', now: 0, types, ...more })
}

function applied(...args: Parameters<typeof apply>): ConfigMap {
  const result = apply(...args)
  if (result.kind !== 'applied') throw new Error(JSON.stringify(result.conflicts))
  return deepFreeze(result.object) as ConfigMap
}

function owners(object: ApiObject): Record<string, JsonObject | undefined> {
  return Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]),
  )
}

function entry(more: Partial<ManagedFieldsEntry>): ManagedFieldsEntry {
  return {
    manager: 'm',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:k': {} } },
    ...more,
  }
}

describe('writes that are no apply', () => {
  it('P17 P218 own what they create, without what the server looks after', () => {
    const created = update(
      undefined,
      configMap({ k: 'v' }, { labels: { l: '1' }, uid: 'u', resourceVersion: '1', generation: 2 }),
    )
    expect(owners(created)).toEqual({
      'u Update': { 'f:data': { '.': {}, 'f:k': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    })
  })

  it('P20 write entries with all members, in the order of stock servers', () => {
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

  it('P218 take what they change from others', () => {
    const created = update(undefined, configMap({ k: 'v', l: 'v' }), 'a')
    expect(owners(update(created, configMap({ k: 'w', l: 'v' }), 'b'))).toEqual({
      'a Update': { 'f:data': { '.': {}, 'f:l': {} } },
      'b Update': { 'f:data': { 'f:k': {} } },
    })
  })

  it('P219 need no manager name', () => {
    expect(owners(update(undefined, configMap({ k: 'v' }), ''))).toHaveProperty('unknown Update')
  })

  it('P163 are named by the client, or by its agent', () => {
    expect(managerName('given', 'agent/1')).toBe('given')
    expect(managerName('', 'agent/1 (x)')).toBe('agent')
    expect(managerName(undefined, 'a\u0000b\u0007c/1')).toBe('abc')
    expect(managerName(undefined, `${'é'.repeat(100)}/1`)).toBe('é'.repeat(64))
    expect(managerName(undefined, '/1')).toBe('')
    expect(managerName(undefined, undefined)).toBe('')
  })

  it('keep owners, entries and times when nothing changes', () => {
    const created = update(undefined, configMap({ k: 'v' }), 'a')
    const again = update(created, configMap({ k: 'v' }), 'b', 5 * second)
    expect(again.metadata.managedFields).toBe(created.metadata.managedFields)
  })

  it('move the time of a manager only when it changes something', () => {
    const created = update(undefined, configMap({ k: 'v', l: 'v' }), 'a')
    const changed = update(created, configMap({ k: 'w', l: 'v' }), 'b', 5 * second)
    expect(changed.metadata.managedFields?.map(({ manager, time }) => `${manager} ${time}`)).toEqual([
      'a 1970-01-01T00:00:00Z',
      'b 1970-01-01T00:00:05Z',
    ])
  })

  it('keep one entry for each version and sub-resource', () => {
    const two = managedTypes({ v1: () => source.struct('core/v1.ConfigMap'), v2: () => source.struct('core/v1.Secret') })
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

  it('join the oldest updaters beyond ten', () => {
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

  it('leave an object that does not fit its type with the owners it had', () => {
    const services = managedTypes({ v1: () => source.struct('core/v1.Service') })
    const live = deepFreeze({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', managedFields: [entry({})] },
      spec: { ports: [{ port: 1 }] },
    })
    const next = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: ['x'] } }
    const tracked = trackUpdate({ live, next, manager: 'u', apiVersion: 'v1', now: 0, types: services })
    expect(tracked.metadata).toEqual({ name: 's', managedFields: [entry({})] })
  })

  it('do not own what the path of the request resets', () => {
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

  it('forget owners in versions that are gone', () => {
    const live = deepFreeze(configMap({ k: 'v' }, { managedFields: [entry({ apiVersion: 'v9' })] as unknown as JsonObject[] }))
    expect(update(live, configMap({ k: 'v' })).metadata.managedFields).toBeUndefined()
  })
})

describe('owners that clients write', () => {
  const live = deepFreeze(configMap({ k: 'v', l: 'v' }, { managedFields: [entry({})] as unknown as JsonObject[] }))
  const writing = (managedFields: unknown, data = { k: 'v', l: 'v' }, more: { subresource?: string } = {}): ConfigMap =>
    trackUpdate({
      live,
      next: configMap(data, { managedFields: managedFields as JsonObject[] }),
      manager: 'u',
      apiVersion: 'v1',
      now: 0,
      types,
      ...more,
    })

  it('P227 one empty entry forgets all', () => {
    expect(writing([{}]).metadata).toEqual({ name: 'a', namespace: 'x' })
    expect(isReset([{}])).toBe(true)
    expect(isReset([{}, {}])).toBe(false)
  })

  it('P228 an empty list forgets nothing', () => {
    expect(owners(writing([]))).toEqual({ 'm Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('P229 resets come first, then what the request changes is owned', () => {
    expect(owners(writing([{}], { k: 'w', l: 'v' }))).toEqual({ 'u Update': { 'f:data': { 'f:k': {} } } })
  })

  it('P218 changes are owned after a reset too', () => {
    const cleared = deepFreeze(configMap({ k: 'v' }, { uid: 'u' }))
    expect(owners(update(cleared, configMap({ k: 'w' }, { uid: 'u' })))).toEqual({ 'u Update': { 'f:data': { 'f:k': {} } } })
  })

  it('replace the stored ones', () => {
    expect(owners(writing([entry({ manager: 'other', fieldsV1: { 'f:data': { 'f:l': {} } } })]))).toEqual({
      'other Apply': { 'f:data': { 'f:l': {} } },
    })
  })

  it('are ignored through sub-resources', () => {
    expect(owners(writing([entry({ manager: 'other' })], undefined, { subresource: 'status' }))).toHaveProperty('m Apply')
  })

  for (const [name, bad] of Object.entries({
    'without an operation': { operation: undefined },
    'with another operation': { operation: 'Replace' },
    'without a version': { apiVersion: '' },
    'without a fields type': { fieldsType: undefined },
    'with another fields type': { fieldsType: 'FieldsV2' },
    'with a malformed set': { fieldsV1: { q: {} } },
  })) {
    it(`are ignored ${name}`, () => {
      expect(owners(writing([{ ...entry({ manager: 'other' }), ...bad }]))).toEqual({ 'm Apply': { 'f:data': { 'f:k': {} } } })
      expect(managedFieldsProblem([{ ...entry({}), ...bad } as ManagedFieldsEntry])).toBeTypeOf('string')
    })
  }

  it('are fine as servers write them', () => {
    expect(managedFieldsProblem([entry({})])).toBeUndefined()
    expect(managedFieldsProblem(undefined)).toBeUndefined()
  })
})

describe('applies', () => {
  it('P212 create and own what they name', () => {
    const created = applied(undefined, { k: 'v' }, 'a')
    expect(created.data).toEqual({ k: 'v' })
    expect(owners(created)).toEqual({ 'a Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('P211 carry no owners', () => {
    const body = configMap({}, { managedFields: [] })
    expect(() => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types })).toThrow(
      'metadata.managedFields must be nil',
    )
  })

  it('have the version of the request', () => {
    expect(() => apply(undefined, {}, 'a', { apiVersion: 'v2' })).toThrow(
      'Incorrect version specified in apply patch. Specified patch version: v1, expected: v2',
    )
  })

  it('P209 name no unknown fields', () => {
    const body = { ...configMap({}), colour: 'red' }
    expect(() => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types })).toThrow(
      expect.objectContaining({ code: 'InvalidObject', errors: ['.colour: field not declared in schema'] }),
    )
  })

  it('P214 P215 conflict with other owners, unless forced', () => {
    const live = applied(undefined, { k: 'v', l: 'v' }, 'a')
    const result = apply(live, { k: 'w' }, 'b')
    expect(result).toMatchObject({
      kind: 'conflict',
      conflicts: [{ manager: 'a', operation: 'Apply', field: '.data.k', message: 'conflict with "a"' }],
    })
    const forced = applied(live, { k: 'w' }, 'b', { force: true })
    expect(owners(forced)).toEqual({ 'a Apply': { 'f:data': { 'f:l': {} } }, 'b Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('P214 tell conflicts as a Status with causes', () => {
    const first = applied(undefined, { k: 'v', l: 'v' }, 'a')
    const live = deepFreeze(
      trackUpdate({
        live: first,
        next: { ...first, data: { k: 'v', l: 'u' } },
        manager: 'u',
        apiVersion: 'v1',
        subresource: 'status',
        now: 0,
        types,
      }),
    )
    const result = apply(live, { k: 'w', l: 'w' }, 'b')
    if (result.kind !== 'conflict') throw new Error('no conflict')
    const { status } = conflictError(result.conflicts)
    expect(status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'Apply failed with 2 conflicts: conflicts with "a":\n- .data.k\nconflicts with "u" with subresource "status" using v1:\n- .data.l',
      reason: 'Conflict',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.data.k' },
          { reason: 'FieldManagerConflict', message: 'conflict with "u" with subresource "status" using v1', field: '.data.l' },
        ],
      },
      code: 409,
    })
    const [first409] = result.conflicts
    expect(conflictError(first409 === undefined ? [] : [first409]).status.message).toBe(
      'Apply failed with 1 conflict: conflict with "a": .data.k',
    )
  })

  it('P213 P217 share what has the same value already, without moving a time', () => {
    const live = applied(undefined, { k: 'v' }, 'a', { now: second })
    const shared = applied(live, { k: 'v' }, 'b', { now: 5 * second })
    expect(shared.metadata.managedFields?.map(({ manager, time }) => [manager, time])).toEqual([
      ['b', undefined],
      ['a', '1970-01-01T00:00:01Z'],
    ])
  })

  it('P216 P220 remove what their manager no longer names, unless somebody else owns it', () => {
    const live = applied(applied(undefined, { k: 'v', l: 'v' }, 'a'), { l: 'v' }, 'b')
    const dropped = applied(live, { k: 'v' }, 'a')
    expect(dropped.data).toEqual({ k: 'v', l: 'v' })
    expect(applied(dropped, {}, 'b').data).toEqual({ k: 'v' })
  })

  it('give the live object itself back when nothing changes', () => {
    const live = applied(undefined, { k: 'v' }, 'a')
    const result = apply(live, { k: 'v' }, 'a', { now: 5 * second })
    expect(result).toMatchObject({ kind: 'applied', changed: false })
    expect(result.kind === 'applied' && result.object === live).toBe(true)
  })

  it('pick up objects that nobody owns', () => {
    const live = deepFreeze(configMap({ k: 'v', l: 'v' }, { uid: 'u' }))
    expect(apply(live, { k: 'w' }, 'a')).toMatchObject({
      kind: 'conflict',
      conflicts: [{ message: 'conflict with "before-first-apply" using v1', field: '.data.k' }],
    })
    expect(owners(applied(live, { k: 'v' }, 'a'))).toEqual({
      'a Apply': { 'f:data': { 'f:k': {} } },
      'before-first-apply Update': { 'f:data': { '.': {}, 'f:k': {}, 'f:l': {} } },
    })
  })

  it('P224 P226 without a schema maps are granular and lists whole', () => {
    const body = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: { m: { a: 1 }, l: [1] } }
    const result = applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'x/v1', types: deducedTypes })
    expect(result.kind === 'applied' && owners(result.object)).toEqual({
      'a Apply': { 'f:spec': { '.': {}, 'f:m': { '.': {}, 'f:a': {} }, 'f:l': {} } },
    })
  })

  it('P225 merge keys of strategic merge patches make map lists', () => {
    const pods = managedTypes({ v1: () => source.struct('core/v1.Pod') })
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
    }
    const result = applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types: pods })
    expect(result.kind === 'applied' && owners(result.object)).toEqual({
      'a Apply': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"c"}': {
              '.': {},
              'f:name': {},
              'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
            },
          },
        },
      },
    })
  })

  it('refuse stored owners that cannot be read', () => {
    const live = deepFreeze(configMap({}, { managedFields: [{ operation: 'x' }] }))
    expect(() => apply(live, {}, 'a')).toThrow(expect.objectContaining({ code: 'InvalidManagedFields' }))
  })

  it('refuse objects that are nested too deep', () => {
    let nested: JsonObject = {}
    for (let i = 0; i < 3000; i++) nested = { a: nested }
    const body = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: nested }
    const run = () => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'x/v1', types: deducedTypes })
    expect(run).toThrow(expect.objectContaining({ code: 'TooLarge' }))
  })

  it('keep strange names as they are', () => {
    const body = JSON.parse(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"__proto__":"p","constructor":"c"}}',
    ) as ApiObject
    const result = applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types })
    if (result.kind !== 'applied') throw new Error('conflict')
    const live = deepFreeze(result.object)
    expect(Object.keys(live.data as object).sort()).toEqual(['__proto__', 'constructor'])
    const dropped = applyPatch({ live, applied: configMap({}), manager: 'a', force: false, apiVersion: 'v1', types })
    expect(dropped.kind === 'applied' && Object.keys((dropped.object.data ?? {}) as object)).toEqual([])
  })
})

describe('several versions', () => {
  const schemaOf = (name: string) =>
    typedSchemaFromOpenApi(
      { type: 'object', properties: { spec: { type: 'object', properties: { [name]: { type: 'string' } } } } },
      { root: rootTypes() },
    )
  const v1 = schemaOf('old')
  const v2 = schemaOf('fresh')
  const kinds = managedTypes({ 'x/v1': () => v1, 'x/v2': () => v2 }, (object, apiVersion) => {
    const { old, fresh } = (object.spec ?? {}) as { old?: string; fresh?: string }
    const value = (old ?? fresh) as string
    return { ...object, apiVersion, spec: value === undefined ? {} : { [apiVersion === 'x/v1' ? 'old' : 'fresh']: value } }
  })

  function rootTypes() {
    const text = typedSchemaFromOpenApi({ type: 'string' })
    return { apiVersion: text, kind: text, metadata: typedSchemaFromOpenApi({ type: 'object' }) }
  }

  it('conflicts are found across versions, and told in the owner’s', () => {
    const first = applyPatch({
      applied: { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: { old: '1' } },
      manager: 'a',
      force: false,
      apiVersion: 'x/v1',
      types: kinds,
    })
    if (first.kind !== 'applied') throw new Error('conflict')
    expect(owners(first.object)).toEqual({ 'a Apply': { 'f:spec': { 'f:old': {} } } })
    const live = deepFreeze({ ...first.object, apiVersion: 'x/v2', spec: { fresh: '1' } })
    const body = { apiVersion: 'x/v2', kind: 'X', metadata: { name: 'a' }, spec: { fresh: '2' } }
    expect(applyPatch({ live, applied: body, manager: 'b', force: false, apiVersion: 'x/v2', types: kinds })).toMatchObject({
      kind: 'conflict',
      conflicts: [{ field: '.spec.old' }],
    })
    const moved = applyPatch({ live, applied: body, manager: 'a', force: false, apiVersion: 'x/v2', types: kinds })
    expect(moved.kind === 'applied' && moved.object.metadata.managedFields).toMatchObject([
      { manager: 'a', apiVersion: 'x/v2', fieldsV1: { 'f:spec': { 'f:fresh': {} } } },
    ])
  })

  it('what was owned in an old version is removed when it is no longer named', () => {
    const live = deepFreeze({
      apiVersion: 'x/v2',
      kind: 'X',
      metadata: {
        name: 'a',
        managedFields: [entry({ manager: 'a', apiVersion: 'x/v1', fieldsV1: { 'f:spec': { 'f:old': {} } } })],
      },
      spec: { fresh: '1' },
    })
    const body = { apiVersion: 'x/v2', kind: 'X', metadata: { name: 'a' }, spec: {} }
    const result = applyPatch({ live, applied: body, manager: 'a', force: false, apiVersion: 'x/v2', types: kinds })
    expect(result.kind === 'applied' && result.object.spec).toEqual({})
  })
})

describe('times of writes without effect', () => {
  it('are taken back', () => {
    const live = applied(undefined, { k: 'v' }, 'a')
    const moved = {
      ...live,
      metadata: {
        ...live.metadata,
        managedFields: live.metadata.managedFields?.map((each) => ({ ...each, time: '2030-01-01T00:00:00Z' })),
      },
    } as ConfigMap
    expect(settleTimestamps(live, moved)).toBe(live)
    expect(settleTimestamps(live, { ...moved, data: { k: 'w' } })).toEqual({ ...moved, data: { k: 'w' } })
    expect(settleTimestamps(live, live)).toBe(live)
  })
})

describe('P230 ownership through scale', () => {
  const path = ['f:spec', 'f:replicas']
  const live: ManagedFieldsEntry[] = [
    entry({
      manager: 'a',
      apiVersion: 'apps/v1',
      time: '2020-01-01T00:00:00Z',
      fieldsV1: { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } },
    }),
    entry({ manager: 'b', apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
  ]
  const ownership = { live, apiVersion: 'apps/v1', replicasPaths: { 'apps/v1': path } }

  it('shows those that own the replicas', () => {
    expect(scaleManagedFields(ownership)).toEqual([
      entry({
        manager: 'a',
        apiVersion: 'autoscaling/v1',
        time: '2020-01-01T00:00:00Z',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      }),
    ])
  })

  it('hands the replicas over', () => {
    const scaler = entry({
      manager: 'hpa',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      time: '2021-01-01T00:00:00Z',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    })
    expect(parentManagedFields(ownership, [scaler])).toEqual([
      entry({ manager: 'b', apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry({ manager: 'a', apiVersion: 'apps/v1', time: '2020-01-01T00:00:00Z', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry({
        manager: 'hpa',
        operation: 'Update',
        apiVersion: 'apps/v1',
        subresource: 'scale',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      }),
    ])
  })

  it('leaves owners that kept the replicas alone, and drops unknown versions', () => {
    const kept = parentManagedFields(
      { ...ownership, live: [...live, entry({ manager: 'z', apiVersion: 'apps/v9' })] },
      scaleManagedFields(ownership),
    )
    expect(kept.map(({ manager }) => manager)).toEqual(['b', 'a'])
  })
})
