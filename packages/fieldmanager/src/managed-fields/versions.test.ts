import { describe, expect, it } from 'vitest'
import { entry, owners } from '../testing/config-maps.ts'
import { deepFreeze } from '../testing/vectors.ts'
import { typedSchemaFromOpenApi } from '../typed/from-openapi.ts'
import { applyPatch } from './apply.direct.ts'
import { createTypeConverter } from './type-converter.ts'

describe('kinds with several versions', () => {
  const schemaOf = (name: string) =>
    typedSchemaFromOpenApi(
      { type: 'object', properties: { spec: { type: 'object', properties: { [name]: { type: 'string' } } } } },
      { root: rootTypes() },
    )
  const v1 = schemaOf('old')
  const v2 = schemaOf('fresh')
  const kinds = createTypeConverter({ 'x/v1': () => v1, 'x/v2': () => v2 }, (object, apiVersion) => {
    const { old, fresh } = (object.spec ?? {}) as { old?: string; fresh?: string }
    const value = (old ?? fresh) as string
    return { ...object, apiVersion, spec: value === undefined ? {} : { [apiVersion === 'x/v1' ? 'old' : 'fresh']: value } }
  })

  function rootTypes() {
    const text = typedSchemaFromOpenApi({ type: 'string' })
    return { apiVersion: text, kind: text, metadata: typedSchemaFromOpenApi({ type: 'object' }) }
  }

  it("finds conflicts across versions and reports them in the owner's version", () => {
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

  it('removes a field owned in an old version once it is no longer applied', () => {
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
