import { describe, expect, it } from 'vitest'
import { decode } from '../decode/decode.direct.ts'
import { applyDefaults } from '../decode/defaults.direct.ts'
import { normalize } from '../decode/normalize.direct.ts'
import type { StructType } from '../interfaces.ts'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { createCustomType } from './custom-type.ts'

const text = { kind: 'scalar', scalar: 'string' } as const
const plain = { pointer: false, optional: true, required: false, omitEmpty: true }
const fields = [
  { json: 'name', type: text, ...plain },
  { json: 'labels', type: { kind: 'map', of: text } as const, ...plain },
]
/** Minimal ObjectMeta for these tests. */
const objectMeta: StructType = {
  name: 'meta/v1.ObjectMeta',
  typeName: 'ObjectMeta',
  packageName: 'v1',
  group: 'meta.k8s.io',
  version: 'v1',
  openapiName: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  root: false,
  fields,
  field: new Map(fields.map((field) => [field.json, field])),
  raw: {},
}

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', default: 3 },
        note: { type: 'string', nullable: true },
        list: { type: 'array', items: { type: 'object', properties: { x: { type: 'integer', default: 1 } } } },
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { known: { type: 'object', properties: {} } },
        },
        map: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
}
const type = createCustomType({ kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' }, schema, objectMeta })
const object = (spec: unknown, rest: object = {}) => ({
  kind: 'Widget',
  apiVersion: 'g.example.com/v1',
  ...rest,
  metadata: { name: 'a' },
  spec,
})

const preserved = { 'x-kubernetes-preserve-unknown-fields': true }

describe('createCustomType', () => {
  it('prunes unknown fields and reports their paths [P204]', () => {
    const { object: read, problems } = decode(
      type,
      object({ b: 1, list: [{ x: 1, y: 2 }], open: { any: [1, { q: null }], known: { z: 1 } } }, { extra: 1 }),
    )
    expect(read.spec).toEqual({ list: [{ x: 1 }], open: { any: [1, { q: null }], known: {} } })
    expect(problems).toEqual([
      'unknown field "extra"',
      'unknown field "spec.b"',
      'unknown field "spec.list[0].y"',
      'unknown field "spec.open.known.z"',
    ])
  })

  it.each(['a"b', 'a\\b', 'a\tb', '\u0001', 'a\ufeff', '\u2028', '\ud83d\ude00', '\u{e0001}'])(
    'reports %j unescaped in metadata and elsewhere',
    (name) => {
      const { problems } = decode(type, { kind: 'Widget', metadata: { [name]: 1 }, spec: { [name]: 1 } })
      expect(problems).toEqual([`unknown field "metadata.${name}"`, `unknown field "spec.${name}"`])
    },
  )

  it('reports duplicate fields and unknown metadata before other unknown fields', () => {
    const parsed = parseJson(
      '{"apiVersion":"g.example.com/v1","kind":"Widget","metadata":{"name":"a","colour":"red"},"spec":{"b":1,"size":1,"size":2}}',
    )
    const { problems } = decode(type, parsed.value, { duplicates: parsed.duplicates })
    expect(problems).toEqual(['duplicate field "spec.size"', 'unknown field "metadata.colour"', 'unknown field "spec.b"'])
  })

  it('treats null as absent where it is not allowed', () => {
    expect(decode(type, object({ map: null, note: null, size: null })).object.spec).toEqual({ note: null, size: null })
    expect(applyDefaults(type, decode(type, object({ size: null })).object).spec).toEqual({ size: 3 })
  })

  it('keeps nulls of an applied configuration for validation, but does not store untyped nulls', () => {
    const kept = { list: [{ x: null }], map: { a: null }, open: { known: null }, size: null }
    expect(decode(type, object(kept), { keepNulls: true }).object.spec).toEqual(kept)
    const untyped = createCustomType({
      kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' },
      schema: { type: 'object', properties: { spec: { type: 'object', properties: { any: preserved, other: preserved } } } },
      objectMeta,
    })
    const given = object({ any: null, other: { x: null } })
    expect(normalize(untyped, decode(untyped, given, { keepNulls: true }).object).spec).toEqual({ other: { x: null } })
  })

  it('applies defaults to existing values and returns the same object when none applies', () => {
    const filled = applyDefaults(type, decode(type, object({ list: [{}, { x: 2 }] })).object)
    expect(filled.spec).toEqual({ list: [{ x: 1 }, { x: 2 }], size: 3 })
    expect(applyDefaults(type, filled)).toBe(filled)
    expect(applyDefaults(type, decode(type, { ...object({}), spec: undefined }).object)).not.toHaveProperty('spec.size')
  })

  it('sorts members by name at every level', () => {
    const { object: read } = decode(type, object({ size: 1, map: { b: '1', a: '2' }, list: [] }))
    expect(stringifyJson(read)).toBe(
      '{"apiVersion":"g.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"list":[],"map":{"a":"2","b":"1"},"size":1}}',
    )
    expect(normalize(type, read)).toBe(read)
  })

  it('prunes and defaults stored objects by the current schema', () => {
    const stored = object({ gone: 1, list: [{}] })
    expect(type.custom?.readStored(stored as never)).toEqual({
      ...object({ list: [{ x: 1 }], size: 3 }),
      metadata: { name: 'a', generation: 1 },
    })
    expect(stored.spec).toEqual({ gone: 1, list: [{}] })
  })

  it('treats __proto__ and constructor as ordinary members', () => {
    const { value } = parseJson(
      '{"apiVersion":"g.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"open":{"__proto__":{"p":1},"constructor":2},"map":{"__proto__":"x"}}}',
    )
    const { object: read } = decode(type, value)
    expect(stringifyJson(applyDefaults(type, read).spec)).toBe(
      '{"map":{"__proto__":"x"},"open":{"__proto__":{"p":1},"constructor":2},"size":3}',
    )
    expect(({} as { p?: number }).p).toBeUndefined()
  })

  it("reports Go's message for metadata of a wrong type", () => {
    expect(() => decode(type, { ...object({}), metadata: { labels: 'red' } })).toThrow(
      'json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string',
    )
  })

  it('rejects deep nesting in linear time', () => {
    const deep = (depth: number) => `${'{"b":0,"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const value = (depth: number) =>
      parseJson(`{"apiVersion":"g.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"open":${deep(depth)}}}`).value
    expect(stringifyJson(decode(type, value(900)).object)).toContain('{"a":1,"b":0}')
    expect(() => decode(type, value(5000))).toThrow('exceeded max depth')
  })
})

describe('embedded resources', () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
  const whole = { apiVersion: 'v1', kind: 'Inner', metadata: { name: 'in', unheardOf: 'x' } }
  const shape = {
    type: 'object',
    properties: {
      direct: { ...embedded, default: whole },
      around: { type: 'object', properties: { it: embedded }, default: { it: whole } },
      inside: {
        ...embedded,
        properties: { metadata: { type: 'object', properties: { unheardOf: { type: 'string', default: 'x' } } } },
      },
      list: { type: 'array', items: { type: 'object', properties: { it: { ...embedded, default: whole } } } },
    },
  }
  const widget = createCustomType({ kind: { group: 'g.example.com', version: 'v1', kind: 'Widget' }, schema: shape, objectMeta })

  it('reports unknown metadata of resources in maps by key', () => {
    const map = { type: 'object', additionalProperties: embedded }
    const kind = { group: 'g.example.com', version: 'v1', kind: 'Widget' }
    const holder = createCustomType({ kind, schema: { type: 'object', properties: { map } }, objectMeta })
    const given = { kind: 'Widget', apiVersion: 'g.example.com/v1', map: { one: whole } }
    expect(decode(holder, given).problems).toEqual(['unknown field "map[one].metadata.unheardOf"'])
  })

  it('keeps only known metadata of defaults', () => {
    const given = { kind: 'Widget', apiVersion: 'g.example.com/v1', inside: { metadata: {} }, list: [{}] }
    const filled = applyDefaults(widget, decode(widget, given).object)
    const clean = { ...whole, metadata: { name: 'in' } }
    expect(filled).toMatchObject({ direct: clean, around: { it: clean }, inside: { metadata: {} }, list: [{ it: clean }] })
    expect(stringifyJson(filled as never)).not.toContain('unheardOf')
  })
})

it('gives stored objects a generation', () => {
  expect(type.custom?.readStored({ kind: 'Widget', apiVersion: 'g.example.com/v1', metadata: { name: 'a' } })).toMatchObject({
    metadata: { name: 'a', generation: 1 },
  })
})
