import type { JsonObject, JsonValue } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { compareTyped } from './compare.direct.ts'
import { formatComparison } from './compare.ts'
import { deducedType } from './deduced.ts'
import { fieldSetOf } from './field-set-of.ts'
import { typedSchemaFromOpenApi } from './from-openapi.ts'
import { typedSchemaFromSmd } from './from-smd.ts'
import { typedSchemaOf, zeroObjectOf } from './from-struct.ts'
import { mergeTyped } from './merge.direct.ts'
import { validateValue } from './validate.direct.ts'

const source = createTypeSource(modelFiles())

describe('typedSchemaFromOpenApi [P222 P224 P225]', () => {
  interface Vector {
    name: string
    source: string
    schema: JsonObject
    object: JsonValue
    owned?: JsonObject
    problems?: string[]
  }
  for (const vector of readOwnVectors<Vector>('openapi.json')) {
    it(vector.name, () => {
      const type = typedSchemaFromOpenApi(vector.schema)
      expect(validateValue(vector.object, type)).toEqual(vector.problems ?? [])
      if (vector.owned !== undefined) expect(encodeFieldsV1(fieldSetOf(vector.object, type))).toEqual(vector.owned)
    })
  }

  it('resolves references, including recursive ones', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' }, v: { type: 'string' } } }
    const type = typedSchemaFromOpenApi(
      { allOf: [{ $ref: '#/components/schemas/Node' }] },
      { resolve: (name) => (name === 'Node' ? node : undefined) },
    )
    expect(encodeFieldsV1(fieldSetOf({ next: { next: { v: 'x' } } }, type))).toEqual({ 'f:next': { 'f:next': { 'f:v': {} } } })
    const missing = typedSchemaFromOpenApi({ $ref: '#/x/Missing' })
    expect(() => fieldSetOf({}, missing)).toThrow(expect.objectContaining({ code: 'InvalidSchema' }))
  })

  it('accepts any value where a schema has no type, as that of integers or strings', () => {
    const schema = { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true } } }
    for (const port of [1, 'a', {}, [1]]) expect(validateValue({ port }, typedSchemaFromOpenApi(schema))).toEqual([])
  })

  it('rejects unknown markers on first use', () => {
    const bad = { type: 'object', properties: { l: { type: 'array', 'x-kubernetes-list-type': 'bag' } } }
    expect(() => fieldSetOf({ l: [] }, typedSchemaFromOpenApi(bad))).toThrow('unknown list type bag')
    const keyless = { type: 'array', 'x-kubernetes-list-type': 'map' }
    expect(() => fieldSetOf([], typedSchemaFromOpenApi(keyless))).toThrow('missing map keys')
  })
})

describe('typedSchemaOf', () => {
  it('caches the schema of a type', () => {
    expect(typedSchemaOf(source.struct('core/v1.Pod'))).toBe(typedSchemaOf(source.struct('core/v1.Pod')))
  })

  it('recognizes sets, list maps, atomic lists and atomic structs', () => {
    const pod = {
      metadata: { finalizers: ['a'], labels: { l: '1' } },
      spec: {
        containers: [{ name: 'c', args: ['x'], resources: { limits: { cpu: '1' } } }],
        nodeSelector: { n: '1' },
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
        volumes: [{ name: 'v', configMap: { name: 'x' } }],
      },
    }
    expect(encodeFieldsV1(fieldSetOf(pod, typedSchemaOf(source.struct('core/v1.Pod'))))).toEqual({
      'f:metadata': { 'f:finalizers': { 'v:"a"': {} }, 'f:labels': { 'f:l': {} } },
      'f:spec': {
        'f:affinity': { 'f:nodeAffinity': { 'f:requiredDuringSchedulingIgnoredDuringExecution': {} } },
        'f:containers': {
          'k:{"name":"c"}': { '.': {}, 'f:args': {}, 'f:name': {}, 'f:resources': { 'f:limits': { 'f:cpu': {} } } },
        },
        'f:nodeSelector': {},
        'f:volumes': { 'k:{"name":"v"}': { '.': {}, 'f:configMap': { 'f:name': {} }, 'f:name': {} } },
      },
    })
  })

  it('accepts the zero object of built-in kinds', () => {
    for (const name of [
      'apiextensions/v1.CustomResourceDefinition',
      'apps/v1.StatefulSet',
      'batch/v1.CronJob',
      'networking/v1.Ingress',
    ]) {
      const struct = source.struct(name)
      expect(validateValue(zeroObjectOf(struct), typedSchemaOf(struct)), name).toEqual([])
    }
  })

  it('includes always-serialized members in the zero object', () => {
    expect(zeroObjectOf(source.struct('apps/v1.Deployment'))).toEqual({
      metadata: { creationTimestamp: null },
      spec: { selector: null, template: { metadata: { creationTimestamp: null }, spec: { containers: null } }, strategy: {} },
      status: {},
    })
  })
})

describe('compareTyped', () => {
  const type = typedSchemaOf(source.struct('core/v1.PodSpec'))

  it('matches items by key', () => {
    const before = {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'j' },
      ],
      tolerations: [{ key: 'x' }],
    }
    const after = {
      containers: [
        { name: 'b', image: 'k' },
        { name: 'c', image: 'l' },
      ],
      tolerations: [],
    }
    expect(formatComparison(compareTyped(before, after, type))).toBe(
      [
        '- Modified Fields:',
        '.tolerations',
        '.containers[name="b"].image',
        '- Added Fields:',
        '.containers[name="c"]',
        '.containers[name="c"].image',
        '.containers[name="c"].name',
        '- Removed Fields:',
        '.containers[name="a"]',
        '.containers[name="a"].image',
        '.containers[name="a"].name',
        '',
      ].join('\n'),
    )
  })

  it('compares duplicates as a whole', () => {
    const twice = {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'a', image: 'j' },
      ],
    }
    const other = {
      containers: [
        { name: 'a', image: 'i' },
        { name: 'a', image: 'k' },
      ],
    }
    expect(compareTyped(twice, other, type).modified.paths()).toEqual([['f:containers', 'k:{"name":"a"}']])
    expect(compareTyped(twice, structuredClone(twice), type).modified.empty).toBe(true)
  })

  it('rejects items without keys', () => {
    const after = { containers: [{ name: 'a' }, 'x'] }
    expect(() => compareTyped({ containers: [{ name: 'a' }] }, after, type)).toThrow(
      '.containers: element 1: associative list with keys may not have non-map elements',
    )
  })

  it("reports a change of the value's type", () => {
    const change = compareTyped({ a: 'x', b: [1] }, { a: { c: 1 }, b: null }, deducedType)
    expect(String(change.modified)).toBe('.a\n.b')
    expect(String(change.added)).toBe('.a.c')
  })
})

describe('mergeTyped', () => {
  it('shares unchanged parts, up to the base itself', () => {
    const type = typedSchemaOf(source.struct('core/v1.PodSpec'))
    const base = deepFreeze({
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'j' },
      ],
      nodeName: 'n',
    })
    expect(mergeTyped(base, { containers: [{ name: 'b', image: 'j' }, { name: 'a' }].reverse() }, type)).toBe(base)
    const merged = mergeTyped(base, { containers: [{ name: 'b', image: 'k' }] }, type) as typeof base
    expect(merged.containers[0]).toBe(base.containers[0])
    expect(merged.containers[1]).toEqual({ name: 'b', image: 'k' })
  })

  it('keeps the members of a map when the patch has null', () => {
    expect(mergeTyped({ a: { b: 1 } }, { a: null }, deducedType)).toEqual({ a: { b: 1 } })
    expect(mergeTyped({ a: 'x' }, { a: null }, deducedType)).toEqual({ a: null })
    const granular = typedSchemaFromOpenApi({
      type: 'object',
      properties: { a: { type: 'object', additionalProperties: { type: 'integer' } } },
    })
    expect(mergeTyped({ a: { b: 1 } }, { a: null }, granular)).toEqual({ a: { b: 1 } })
  })
})

describe('typedSchemaFromSmd', () => {
  it('rejects unknown type names, unknown scalars and types without a name', () => {
    const schema = typedSchemaFromSmd({
      types: [
        { name: 'a', map: { fields: [{ name: 'x', type: { namedType: 'missing' } }] } },
        { name: 'b', scalar: 'text' },
      ],
    })
    expect(() => validateValue({ x: 1 }, schema.type('a'))).toThrow('schema error: no type found matching: missing')
    expect(() => validateValue(1, schema.type('b'))).toThrow('unexpected scalar type in schema: text')
    expect(() => schema.type('c')).toThrow(expect.objectContaining({ code: 'InvalidSchema' }))
    expect(() => typedSchemaFromSmd({ types: [{ map: {} }] })).toThrow('a type needs a name')
    expect(schema.names).toEqual(['a', 'b'])
  })

  it('overrides the relationship of maps and lists, and rejects an override of other types on use', () => {
    const override = (namedType: string, elementRelationship: string) => ({
      name: namedType,
      type: { namedType, elementRelationship },
    })
    const schema = typedSchemaFromSmd({
      types: [
        { name: 'text', scalar: 'string' },
        { name: 'words', list: { elementType: { scalar: 'string' }, elementRelationship: 'associative' } },
        { name: 'labels', map: { elementType: { scalar: 'string' } } },
        {
          name: 'either',
          map: { elementType: { scalar: 'string' } },
          list: { elementType: { scalar: 'string' }, elementRelationship: 'associative' },
          scalar: 'string',
        },
        {
          name: 'bad',
          map: {
            fields: [override('text', 'atomic'), { name: 'inlined', type: { scalar: 'string', elementRelationship: 'atomic' } }],
          },
        },
        { name: 'separable', map: { fields: [override('words', 'separable')] } },
        {
          name: 'good',
          map: { fields: [override('words', 'atomic'), override('labels', 'atomic'), override('either', 'atomic')] },
        },
      ],
    })
    const use = (type: string, value: object) => () => fieldSetOf(value as never, schema.type(type))
    expect(use('bad', {})).not.toThrow()
    expect(use('bad', { text: 'x' })).toThrow('schema error: no type found matching: text')
    expect(use('bad', { inlined: 'x' })).toThrow('schema error: no type found matching: inlined type')
    expect(use('separable', { words: ['a'] })).toThrow('invalid indexing of non-associative list')
    const owned = (value: object) => encodeFieldsV1(use('good', value)())
    expect(owned({ words: ['a'] })).toEqual({ 'f:words': {} })
    expect(owned({ labels: { a: 'b' } })).toEqual({ 'f:labels': {} })
    // Of a type with several forms, only the map is overridden.
    expect(owned({ either: { a: 'b' } })).toEqual({ 'f:either': {} })
    expect(owned({ either: ['a'] })).toEqual({ 'f:either': { 'v:"a"': {} } })
  })
})
