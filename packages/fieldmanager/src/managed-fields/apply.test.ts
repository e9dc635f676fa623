import type { ApiObject, JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { applied, apply, configMap, owners, second, source, types } from '../testing/config-maps.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { applyPatch } from './apply.direct.ts'
import { conflictError } from './conflicts.ts'
import { createTypeConverter, deducedTypeConverter } from './type-converter.ts'
import { trackUpdate } from './update.direct.ts'

describe('applyPatch', () => {
  it('creates an object owned by its manager [P212]', () => {
    const created = applied(undefined, { k: 'v' }, 'a')
    expect(created.data).toEqual({ k: 'v' })
    expect(owners(created)).toEqual({ 'a Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('rejects managedFields in the body [P211]', () => {
    const body = configMap({}, { managedFields: [] })
    expect(() => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types })).toThrow(
      'metadata.managedFields must be nil',
    )
  })

  it('rejects a configuration whose version differs from the request', () => {
    expect(() => apply(undefined, {}, 'a', { apiVersion: 'v2' })).toThrow(
      'Incorrect version specified in apply patch. Specified patch version: v1, expected: v2',
    )
  })

  it('rejects unknown fields [P209]', () => {
    const body = { ...configMap({}), colour: 'red' }
    expect(() => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'v1', types })).toThrow(
      expect.objectContaining({ code: 'InvalidObject', errors: ['.colour: field not declared in schema'] }),
    )
  })

  it('reports conflicts with other owners, and takes the fields over when forced [P214 P215]', () => {
    const live = applied(undefined, { k: 'v', l: 'v' }, 'a')
    const result = apply(live, { k: 'w' }, 'b')
    expect(result).toMatchObject({
      kind: 'conflict',
      conflicts: [{ manager: 'a', operation: 'Apply', field: '.data.k', message: 'conflict with "a"' }],
    })
    const forced = applied(live, { k: 'w' }, 'b', { force: true })
    expect(owners(forced)).toEqual({ 'a Apply': { 'f:data': { 'f:l': {} } }, 'b Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('converts conflicts to a Status with causes [P214]', () => {
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

  it('shares ownership of equal values without moving timestamps [P213 P217]', () => {
    const live = applied(undefined, { k: 'v' }, 'a', { now: second })
    const shared = applied(live, { k: 'v' }, 'b', { now: 5 * second })
    expect(shared.metadata.managedFields?.map(({ manager, time }) => [manager, time])).toEqual([
      ['b', undefined],
      ['a', '1970-01-01T00:00:01Z'],
    ])
  })

  it('removes fields the manager no longer applies, unless another manager owns them [P216 P220]', () => {
    const live = applied(applied(undefined, { k: 'v', l: 'v' }, 'a'), { l: 'v' }, 'b')
    const dropped = applied(live, { k: 'v' }, 'a')
    expect(dropped.data).toEqual({ k: 'v', l: 'v' })
    expect(applied(dropped, {}, 'b').data).toEqual({ k: 'v' })
  })

  it('returns the live object itself when nothing changes', () => {
    const live = applied(undefined, { k: 'v' }, 'a')
    const result = apply(live, { k: 'v' }, 'a', { now: 5 * second })
    expect(result).toMatchObject({ kind: 'applied', changed: false })
    expect(result.kind === 'applied' && result.object === live).toBe(true)
  })

  it('assigns an object without managedFields to before-first-apply', () => {
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

  it('treats maps as granular and lists as atomic without a schema [P224 P226]', () => {
    const body = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: { m: { a: 1 }, l: [1] } }
    const result = applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'x/v1', types: deducedTypeConverter })
    expect(result.kind === 'applied' && owners(result.object)).toEqual({
      'a Apply': { 'f:spec': { '.': {}, 'f:m': { '.': {}, 'f:a': {} }, 'f:l': {} } },
    })
  })

  it('uses strategic merge keys as list map keys [P225]', () => {
    const pods = createTypeConverter({ v1: () => source.struct('core/v1.Pod') })
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

  it('rejects unreadable stored managedFields', () => {
    const live = deepFreeze(configMap({}, { managedFields: [{ operation: 'x' }] }))
    expect(() => apply(live, {}, 'a')).toThrow(expect.objectContaining({ code: 'InvalidManagedFields' }))
  })

  it('rejects objects nested too deeply', () => {
    let nested: JsonObject = {}
    for (let i = 0; i < 3000; i++) nested = { a: nested }
    const body = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec: nested }
    const run = () => applyPatch({ applied: body, manager: 'a', force: false, apiVersion: 'x/v1', types: deducedTypeConverter })
    expect(run).toThrow(expect.objectContaining({ code: 'TooLarge' }))
  })

  it('keeps unusual member names', () => {
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
