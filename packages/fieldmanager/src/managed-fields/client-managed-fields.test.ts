import type { JsonObject, ManagedFieldsEntry } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type ConfigMap, configMap, entry, owners, types, update } from '../testing/config-maps.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { managedFieldsProblem } from './entries.direct.ts'
import { trackUpdate } from './update.direct.ts'
import { isResetManagedFields } from './update.ts'

describe('managedFields written by clients', () => {
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

  it('reset all owners with a single empty entry [P227]', () => {
    expect(writing([{}]).metadata).toEqual({ name: 'a', namespace: 'x' })
    expect(isResetManagedFields([{}])).toBe(true)
    expect(isResetManagedFields([{}, {}])).toBe(false)
  })

  it('change nothing when the list is empty [P228]', () => {
    expect(owners(writing([]))).toEqual({ 'm Apply': { 'f:data': { 'f:k': {} } } })
  })

  it('reset first, then record the changes of the request [P229]', () => {
    expect(owners(writing([{}], { k: 'w', l: 'v' }))).toEqual({ 'u Update': { 'f:data': { 'f:k': {} } } })
  })

  it('record changes after a reset as well [P218]', () => {
    const cleared = deepFreeze(configMap({ k: 'v' }, { uid: 'u' }))
    expect(owners(update(cleared, configMap({ k: 'w' }, { uid: 'u' })))).toEqual({ 'u Update': { 'f:data': { 'f:k': {} } } })
  })

  it('replace the stored entries', () => {
    expect(owners(writing([entry({ manager: 'other', fieldsV1: { 'f:data': { 'f:l': {} } } })]))).toEqual({
      'other Apply': { 'f:data': { 'f:l': {} } },
    })
  })

  it('are ignored in sub-resource requests', () => {
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

  it('pass validation in the form that servers write', () => {
    expect(managedFieldsProblem([entry({})])).toBeUndefined()
    expect(managedFieldsProblem(undefined)).toBeUndefined()
  })
})
