import { type ApiObject, fixedFeatures, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInTypes } from '../catalog/catalog.ts'
import type { ResourceDefinition } from '../interfaces.ts'
import { defineResource } from './define-resource.ts'
import { z } from './library.ts'
import { structuralSchema } from './structural-schema.ts'

const context = { clock: systemClock, random: systemRandom, profile: stockProfile, features: fixedFeatures() }
const types = builtInTypes()
const base = { group: 'shop.example.com', kind: 'Widget' } as const
const object = (members: object): ApiObject =>
  ({ apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'a', namespace: 'default' }, ...members }) as ApiObject

describe('structuralSchema', () => {
  const of = (schema: z.ZodType) => structuralSchema(z.object({ it: schema })).properties as { it: object }

  it.each([
    ['a whole number', z.int().min(1), { type: 'integer', minimum: 1 }],
    ['a positive number', z.number().positive(), { type: 'number', minimum: 0, exclusiveMinimum: true }],
    ['a description', z.string().describe('what'), { type: 'string', description: 'what' }],
    ['an enumeration', z.enum(['a', 'b']).default('a'), { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['null', z.string().nullable(), { type: 'string', nullable: true }],
    ['a map', z.record(z.string(), z.string()), { type: 'object', additionalProperties: { type: 'string' } }],
    ['a list', z.array(z.boolean()).min(1), { type: 'array', minItems: 1, items: { type: 'boolean' } }],
    ['anything', z.any(), { 'x-kubernetes-preserve-unknown-fields': true }],
    ['text or a number', z.union([z.string(), z.int()]), { 'x-kubernetes-int-or-string': true }],
    ['different types', z.union([z.string(), z.boolean()]), { 'x-kubernetes-preserve-unknown-fields': true }],
    ['a pattern', z.string().regex(/^a+$/), { type: 'string', pattern: '^a+$' }],
    ['a pattern that looks ahead', z.string().regex(/^(?=a)/), { type: 'string' }],
    [
      'markers',
      z.array(z.object({ name: z.string() })).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    ],
    [
      'an open object',
      z.looseObject({ a: z.string() }),
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        'x-kubernetes-preserve-unknown-fields': true,
      },
    ],
    [
      'alternatives that a member tells apart',
      z.discriminatedUnion('by', [
        z.object({ by: z.literal('a'), size: z.int() }),
        z.object({ by: z.literal('b'), name: z.string().min(2) }),
      ]),
      {
        type: 'object',
        properties: { by: { type: 'string' }, size: { type: 'integer' }, name: { type: 'string', minLength: 2 } },
        oneOf: [
          { properties: { by: { enum: ['a'] } }, required: ['by', 'size'] },
          { properties: { by: { enum: ['b'] }, name: { minLength: 2 } }, required: ['by', 'name'] },
        ],
      },
    ],
  ])('%s', (_name, schema, expected) => {
    expect(of(schema).it).toEqual(expected)
  })

  it('what JSON cannot hold is refused', () => {
    expect(() => structuralSchema(z.object({ at: z.date() }))).toThrow()
  })

  it('a cycle is left open', () => {
    const tree: z.ZodType = z.object({
      name: z.string(),
      get children() {
        return z.array(tree).optional()
      },
    })
    const { children } = structuralSchema(z.object({ tree })).properties as never as Record<string, never> & { children?: never }
    expect(children).toBeUndefined()
    expect(JSON.stringify(structuralSchema(z.object({ tree })))).toContain('x-kubernetes-preserve-unknown-fields')
  })
})

describe('defineResource', () => {
  const schema = z.object({ spec: z.object({ size: z.int().refine((size) => size !== 13, 'must not bring bad luck') }) })

  function only(definitions: readonly ResourceDefinition[]): ResourceDefinition {
    expect(definitions).toHaveLength(1)
    return definitions[0] as ResourceDefinition
  }

  it('has names, a manifest and a status where the schema has one', () => {
    const withStatus = z.object({ ...schema.shape, status: z.object({ phase: z.string() }).optional() })
    const Widget = defineResource({ ...base, shortNames: ['wd'], versions: { v1: { schema: withStatus } } })
    expect(Widget).toMatchObject({
      group: 'shop.example.com',
      version: 'v1',
      resource: 'widgets',
      kind: 'Widget',
      namespaced: true,
    })
    const manifest = Widget.toManifest()
    expect(manifest.metadata.name).toBe('widgets.shop.example.com')
    expect(manifest.spec.versions?.[0]?.subresources).toEqual({ status: {} })
    const { resource, subresources, definedInCode } = only(Widget.resources(types))
    expect(resource.shortNames).toEqual(['wd'])
    expect(subresources.map(({ name }) => name)).toEqual(['widgets/status'])
    expect(definedInCode).toBe(true)
  })

  it('says what is wrong with a definition', () => {
    expect(() => defineResource({ group: 'nodots', kind: 'Widget', versions: { v1: { schema } } })).toThrow(
      'Widget cannot be defined: spec.group',
    )
    expect(() => defineResource({ ...base, versions: {} })).toThrow('Widget has no version')
    expect(() => defineResource({ ...base, versions: { v1: { schema: z.object({ at: z.date() }) } } })).toThrow('v1: ')
  })

  it('the schema is checked first, then refinements, then the rules of the strategy', () => {
    const Widget = defineResource({
      ...base,
      versions: { v1: { schema } },
      strategy: {
        validate: (next, old) =>
          old !== undefined && next.spec.size < old.spec.size
            ? [{ field: 'spec.size', reason: 'FieldValueForbidden', message: 'Forbidden: may only grow' } as never]
            : [],
        warnings: ({ spec }) => (spec.size > 99 ? ['that is large'] : []),
      },
    })
    const { policy } = only(Widget.resources(types))
    const errors = (spec: object) => policy.validate?.(object({ spec }), context).map((each) => `${each.field}: ${each.message}`)
    expect(errors({ size: 1 })).toEqual([])
    expect(errors({ size: 'x' })).toEqual([
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ])
    expect(errors({ size: 13 })).toEqual(['spec.size: Invalid value: 13: must not bring bad luck'])
    const stored = (size: number) => {
      const made = object({ spec: { size } })
      made.metadata.resourceVersion = '1'
      return made
    }
    expect(policy.validateUpdate?.(stored(1), stored(2), context).map((each) => each.message)).toEqual([
      'Forbidden: may only grow',
    ])
    expect(policy.warnings?.(object({ spec: { size: 100 } }), undefined, context)).toEqual(['that is large'])
  })

  it('keeps objects in one version and translates the others', async () => {
    const Widget = defineResource({
      ...base,
      versions: { v1: { schema }, v1beta1: { schema: z.object({ size: z.int() }) } },
      conversions: {
        v1beta1: {
          toStorage: ({ metadata, ...rest }) => ({
            metadata: { ...metadata } as ApiObject['metadata'],
            spec: { size: (rest as never as { size: number }).size },
          }),
          fromStorage: ({ metadata, ...rest }) => ({
            metadata: { ...metadata } as ApiObject['metadata'],
            size: (rest as never as { spec: { size: number } }).spec.size,
          }),
        },
      },
    })
    expect(Widget.version).toBe('v1')
    expect(Widget.at('v1beta1').version).toBe('v1beta1')
    const [first, beta] = Widget.resources(types)
    const stored = object({ spec: { size: 2 } })
    expect(await first?.conversion?.read([stored])).toMatchObject([{ apiVersion: 'shop.example.com/v1', spec: { size: 2 } }])
    const [shown] = (await beta?.conversion?.read([stored])) ?? []
    expect(shown).toMatchObject({ apiVersion: 'shop.example.com/v1beta1', size: 2 })
    expect(shown).not.toHaveProperty('spec')
    expect(await beta?.conversion?.write(shown as ApiObject)).toMatchObject({
      apiVersion: 'shop.example.com/v1',
      spec: { size: 2 },
    })
  })
})
