import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import { createCustomSchemas, definitionName } from './custom.ts'

const source = testTypes()
const kind = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }

function published(
  schema: JsonObject | undefined,
  dialect: 'v2' | 'v3',
  more: { preserveUnknownFields?: boolean } = {},
): JsonObject {
  return createCustomSchemas({
    kind,
    listKind: 'WidgetList',
    source,
    ...(schema === undefined ? {} : { schema }),
    ...more,
  }).body.of(dialect)
}

const properties = (schema: JsonObject) => schema.properties as Record<string, JsonObject>

describe('schemas of custom resources', () => {
  it('are named by the reversed group', () => {
    expect(definitionName(kind)).toBe('com.example.shop.v1.Widget')
  })

  it('describe common members with the first words of the texts of kube-apiserver', () => {
    const { apiVersion, metadata } = properties(published({ type: 'object', properties: { spec: { type: 'object' } } }, 'v3'))
    expect(apiVersion?.description).toMatch(/^APIVersion defines /)
    expect(metadata?.description).toMatch(/^Standard object's metadata/)
  })

  it('include the members of every object', () => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } } },
    }
    const v3 = published(schema, 'v3')
    expect(Object.keys(properties(v3))).toEqual(['apiVersion', 'kind', 'spec', 'metadata'])
    expect(properties(v3).metadata!.allOf).toEqual([
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    ])
    expect(properties(v3).spec).toEqual(schema.properties.spec)
    expect(v3['x-kubernetes-group-version-kind']).toEqual([kind])
    expect(properties(published(schema, 'v2')).metadata!.$ref).toBe(
      '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    )
  })

  it('omit members if any member is allowed', () => {
    expect(published(undefined, 'v3')).toEqual({ type: 'object', 'x-kubernetes-group-version-kind': [kind] })
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    expect(published(open, 'v2').properties).toBeUndefined()
    expect(properties(published(open, 'v3')).kind!.type).toBe('string')
    expect(published({ type: 'object', properties: { a: { type: 'string' } } }, 'v2', { preserveUnknownFields: true })).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [kind],
    })
  })

  it('drop unsupported keywords in version 2', () => {
    const schema: JsonObject = {
      type: 'object',
      required: ['a', 'b'],
      oneOf: [{ required: ['a'] }],
      properties: {
        a: { type: 'object', nullable: true, properties: { x: { type: 'string' } } },
        b: { type: 'array', 'x-kubernetes-preserve-unknown-fields': true, items: { type: 'string' } },
        c: { 'x-kubernetes-int-or-string': true },
        d: { type: 'string', nullable: true, enum: ['x', 'y'], default: 'x' },
      },
    }
    const v2 = published(schema, 'v2')
    expect(v2.required).toEqual(['b'])
    expect(v2.oneOf).toBeUndefined()
    expect(properties(v2).a).toEqual({})
    expect(properties(v2).d).toEqual({ enum: ['x', 'y'] })
    expect(properties(v2).b).toEqual({ 'x-kubernetes-preserve-unknown-fields': true })
    const v3 = published(schema, 'v3')
    expect(v3.oneOf).toEqual([{ required: ['a'] }])
    expect(properties(v3).c).toEqual({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] })
  })

  it('give embedded resources the members of an object', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { template: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: {} } },
    }
    const { template } = properties(published(schema, 'v3'))
    expect(Object.keys(template!.properties as JsonObject)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(template!.required).toEqual(['kind', 'apiVersion'])
  })

  it('describe lists with items and list metadata', () => {
    const { list } = createCustomSchemas({ kind, listKind: 'WidgetList', source, selectableFields: ['.spec.size'] })
    expect(list.name).toBe('com.example.shop.v1.WidgetList')
    const schema = list.of('v3')
    expect(schema.required).toEqual(['items'])
    expect(properties(schema).items!.items).toEqual({ $ref: '#/components/schemas/com.example.shop.v1.Widget' })
    expect(schema['x-kubernetes-selectable-fields']).toEqual([{ fieldPath: 'spec.size' }])
  })

  it('survive hostile names and deep schemas', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject
    expect(Object.keys(properties(published(schema, 'v3')))).toContain('constructor')
    expect(({} as JsonObject).type).toBeUndefined()
    let deep: JsonObject = { type: 'string' }
    for (let depth = 0; depth < 2000; depth++) deep = { type: 'object', properties: { a: deep } }
    expect(JSON.stringify(published(deep, 'v3')).length).toBeLessThan(20_000)
  })
})
