import type { JsonObject, ManagedFieldsEntry } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type ConfigMap, configMap, entry, owners, types, update } from '../testing/config-maps.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { isReset, trackUpdate } from './update.ts'
import { managedFieldsProblem } from './validate.ts'

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
