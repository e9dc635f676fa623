import { describe, expect, it } from 'vitest'
import { SchemaError } from '../schema-error.ts'
import { createTypeSource } from './type-source.ts'

const facts = {
  meta: JSON.stringify({
    group: 'meta.k8s.io',
    versions: {
      v1: {
        goPackage: 'example/meta/v1',
        protoPackage: 'example.meta.v1',
        openapiPrefix: 'io.example.meta.v1',
        kinds: {},
        resources: {},
        types: {
          TypeMeta: {
            fields: [
              {
                json: 'kind',
                go: 'Kind',
                type: { scalar: 'string' },
                omitempty: true,
                proto: { number: 1, type: 'bytes', rep: 'opt' },
              },
              {
                json: 'apiVersion',
                go: 'APIVersion',
                type: { scalar: 'string' },
                omitempty: true,
                proto: { number: 2, type: 'bytes', rep: 'opt' },
              },
            ],
          },
        },
      },
    },
  }),
  shop: JSON.stringify({
    group: 'shop.example.com',
    versions: {
      v1: {
        goPackage: 'example/shop/v1',
        protoPackage: 'example.shop.v1',
        openapiPrefix: 'io.example.shop.v1',
        kinds: {},
        resources: {},
        enums: { Colour: ['Red', 'Blue'] },
        enumsNotInOpenAPI: [],
        named: { Old: { aliasOf: 'shop/v1.Widget' } },
        types: {
          Source: {
            fields: [
              { json: 'disk', go: 'Disk', type: { scalar: 'string' }, proto: { number: 1, type: 'bytes', rep: 'opt' }, zero: '' },
            ],
          },
          Hidden: { noProto: true, fields: [{ json: '-', go: 'No', type: { scalar: 'bool' } }] },
          Widget: {
            root: true,
            fields: [
              { json: '', go: 'TypeMeta', type: { ref: 'meta/v1.TypeMeta' }, inline: true },
              {
                json: 'colour',
                go: 'Colour',
                type: { scalar: 'string', enum: 'shop/v1.Colour' },
                proto: { number: 3, type: 'bytes', rep: 'opt' },
              },
              {
                json: '',
                go: 'Source',
                type: { ref: 'shop/v1.Source' },
                inline: true,
                proto: { number: 2, type: 'bytes', rep: 'opt', name: 'source' },
              },
              {
                json: 'next',
                go: 'Next',
                type: { ref: 'shop/v1.Widget' },
                pointer: true,
                proto: { number: 1, type: 'bytes', rep: 'opt' },
              },
            ],
          },
        },
      },
    },
  }),
  broken: 'never parsed',
  special: '{}',
}

describe('createTypeSource', () => {
  const source = createTypeSource(facts)

  it('promotes inline members in place and marks root types', () => {
    const widget = source.struct('shop/v1.Widget')
    expect(widget.root).toBe(true)
    expect(widget.fields.map((field) => field.json)).toEqual(['kind', 'apiVersion', 'colour', 'disk', 'next'])
    expect(widget.field.get('disk')?.promotedFrom).toBe('shop/v1.Source')
    expect(widget).toMatchObject({ group: 'shop.example.com', version: 'v1', typeName: 'Widget', packageName: 'v1' })
    expect(widget).toMatchObject({ openapiName: 'io.example.shop.v1.Widget', protoName: 'example.shop.v1.Widget' })
  })

  it('orders message members by number and embeds inline structs as messages', () => {
    const members = source.struct('shop/v1.Widget').proto ?? []
    expect(members.map((member) => [member.number, member.kind])).toEqual([
      [1, 'field'],
      [2, 'embedded'],
      [3, 'field'],
    ])
    const embedded = members[1]
    expect(embedded?.kind === 'embedded' && embedded.struct().name).toBe('shop/v1.Source')
    expect(source.struct('shop/v1.Hidden')).not.toHaveProperty('protoName')
    expect(source.struct('shop/v1.Hidden').fields).toEqual([])
  })

  it('resolves recursion, aliases and enumerations lazily', () => {
    const widget = source.struct('shop/v1.Widget')
    const next = widget.field.get('next')?.type
    expect(next?.kind === 'struct' && next.struct()).toBe(widget)
    expect(source.struct('shop/v1.Old')).toBe(widget)
    expect(widget.field.get('colour')?.type).toMatchObject({ scalar: 'string', named: 'shop/v1.Colour', enum: ['Red', 'Blue'] })
  })

  it('rejects unknown names without parsing other groups', () => {
    expect(source.has('shop/v1.Widget')).toBe(true)
    for (const name of [
      'shop/v1.Nothing',
      'shop/v2.Widget',
      'none/v1.Widget',
      'Widget',
      'shop/v1.__proto__',
      'shop/constructor.x',
      'x.y/z',
    ]) {
      expect(source.has(name)).toBe(false)
      expect(() => source.struct(name)).toThrow(SchemaError)
    }
    expect(source.folders).toEqual(['meta', 'shop', 'broken'])
  })
})
