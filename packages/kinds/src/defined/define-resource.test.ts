import { type ApiObject, createFeatures, field, stockProfile, systemClock, systemRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInTypes } from '../catalog/catalog.ts'
import type { ResourceDefinition } from '../interfaces.ts'
import { runPreparation } from '../preparation.ts'
import { runValidation } from '../validation.ts'
import { defineResource } from './define-resource.ts'
import type { ObjectOf, ResourceStrategy } from './interfaces.ts'
import { structuralSchema } from './structural-schema.ts'
import { z } from './zod.ts'

const context = { clock: systemClock, random: systemRandom, profile: stockProfile, features: createFeatures() }
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

  it('rejects types that JSON cannot hold', () => {
    expect(() => structuralSchema(z.object({ at: z.date() }))).toThrow()
  })

  it('leaves a cycle open', () => {
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

  it('derives names, a manifest and a status sub-resource from the schema', () => {
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

  it.each([
    ['Widget', 'widgets'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['StorageClass', 'storageclasses'],
    ['Box', 'boxes'],
  ])('forms the plural of %s as %s', (kind, plural) => {
    expect(defineResource({ ...base, kind, versions: { v1: { schema } } }).resource).toBe(plural)
  })

  it('reports the errors of a definition', () => {
    expect(() => defineResource({ group: 'nodots', kind: 'Widget', versions: { v1: { schema } } })).toThrow(
      'invalid definition of Widget: spec.group',
    )
    expect(() => defineResource({ ...base, versions: {} })).toThrow('Widget needs a version')
    expect(() => defineResource({ ...base, versions: { v1: { schema: z.object({ at: z.date() }) } } })).toThrow('v1: ')
  })

  it('validates the schema first, then refinements, then the rules of the strategy', () => {
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
    const { strategy } = only(Widget.resources(types))
    const errors = (spec: object) =>
      runValidation(strategy.validate?.(object({ spec }), context)).map((each) => `${each.field}: ${each.message}`)
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
    expect(runValidation(strategy.validateUpdate?.(stored(1), stored(2), context)).map((each) => each.message)).toEqual([
      'Forbidden: may only grow',
    ])
    expect(strategy.warnings?.(object({ spec: { size: 100 } }), undefined, context)).toEqual(['that is large'])
  })

  it('stores one version and converts the others', async () => {
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

  describe('hooks', () => {
    const older = z.object({ size: z.int(), note: z.string().optional() })
    const stored = z.object({
      spec: z.object({ size: z.int().min(1), note: z.string().optional() }),
      status: z.object({ phase: z.string().optional() }).optional(),
    })
    const at = (version: string, members: object): ApiObject => ({
      ...object(members),
      apiVersion: `shop.example.com/${version}`,
    })
    const resources = (strategy: ResourceStrategy<ObjectOf<typeof stored>>) => {
      const Widget = defineResource({
        ...base,
        versions: { v1: { schema: stored }, v1beta1: { schema: older } },
        conversions: {
          v1beta1: {
            toStorage: ({ metadata, size, note }) => ({ metadata: metadata as ApiObject['metadata'], spec: { size, note } }),
            fromStorage: ({ metadata, spec }) => ({ metadata: metadata as ApiObject['metadata'], ...(spec as object) }),
          },
        },
        strategy,
      })
      const [first, second] = Widget.resources(types) as [ResourceDefinition, ResourceDefinition]
      return { v1: first.strategy, v1beta1: second.strategy }
    }

    it('see the storage version, whatever the version of the request', () => {
      const seen: number[] = []
      const { v1, v1beta1 } = resources({
        prepareForCreate: (draft) => {
          draft.spec.note = `size ${draft.spec.size}`
          draft.metadata.labels = { made: 'yes' }
        },
        validate: ({ spec }, old) => {
          seen.push(spec.size, old?.spec.size ?? 0)
          return spec.size > 5 ? [field.forbidden('spec.size', 'too large')] : []
        },
      })
      const beta = at('v1beta1', { size: 2 })
      runPreparation(v1beta1.prepareForCreate?.(beta, context))
      expect(beta).toMatchObject({
        apiVersion: 'shop.example.com/v1beta1',
        size: 2,
        note: 'size 2',
        metadata: { labels: { made: 'yes' } },
      })
      expect(beta).not.toHaveProperty('spec')
      const before = at('v1', { spec: { size: 1 } })
      before.metadata.resourceVersion = '1'
      const next = at('v1beta1', { size: 9 })
      next.metadata.resourceVersion = '1'
      expect(runValidation(v1beta1.validateUpdate?.(next, before, context)).map((each) => each.field)).toEqual(['spec.size'])
      expect(runValidation(v1.validate?.(at('v1', { spec: { size: 3 } }), context))).toEqual([])
      expect(seen).toEqual([9, 1, 3, 0])
    })

    it('are not called for objects that the schema rejects', () => {
      const { v1 } = resources({
        prepareForCreate: ({ spec }) => void spec.note?.length.toFixed(),
        validate: ({ spec }) => (spec.size.toFixed() === '' ? [] : [field.invalid('spec', spec.size, 'seen')]),
      })
      for (const spec of [5, undefined, { size: 'x', note: 4 }, { size: 0 }]) {
        const wrong = at('v1', { spec } as object)
        expect(() => runPreparation(v1.prepareForCreate?.(wrong, context))).not.toThrow()
        const errors = runValidation(v1.validate?.(wrong, context))
        expect(errors.length).toBeGreaterThan(0)
        expect(errors.map(({ message }) => message)).not.toContain('Invalid value: 1: seen')
      }
      const faulty = resources({
        prepareForCreate: () => {
          throw new Error('a slip')
        },
      })
      expect(() => runPreparation(faulty.v1.prepareForCreate?.(at('v1', { spec: { size: 1 } }), context))).toThrow('a slip')
    })

    it('change a private draft', () => {
      const spec = Object.freeze({ size: 1 })
      const { v1 } = resources({
        prepareForUpdate: (draft) => {
          draft.spec.size += 1
        },
      })
      const draft = at('v1', { spec })
      runPreparation(v1.prepareForUpdate?.(draft, at('v1', { spec: { size: 1 } }), context))
      expect([spec.size, (draft as { spec?: unknown }).spec]).toEqual([1, { size: 2 }])
    })

    it('validate the status', () => {
      const { v1 } = resources({
        validateStatus: ({ status }) => (status?.phase === 'Bad' ? [field.invalid('status.phase', 'Bad', 'never')] : []),
        validate: () => [field.forbidden('spec', 'not here')],
      })
      const [before, next] = ['Good', 'Bad'].map((phase) => {
        const made = at('v1', { spec: { size: 1 }, status: { phase } })
        made.metadata.resourceVersion = '1'
        return made
      }) as [ApiObject, ApiObject]
      expect(runValidation(v1.subresources?.status?.validateUpdate(next, before, context)).map((each) => each.field)).toEqual([
        'status.phase',
      ])
      expect(runValidation(v1.subresources?.status?.validateUpdate(before, next, context))).toEqual([])
    })
  })

  it('let an update keep what already violated a refinement', () => {
    const ends = z
      .object({ from: z.int(), to: z.int() })
      .refine(({ from, to }) => from <= to, { path: ['to'], message: 'too early' })
    const Widget = defineResource({
      ...base,
      versions: { v1: { schema: z.object({ spec: z.object({ ends, note: z.string() }) }) } },
    })
    const { strategy } = only(Widget.resources(types))
    const of = (from: number, note: string) => {
      const made = object({ spec: { ends: { from, to: 3 }, note } })
      made.metadata.resourceVersion = '1'
      return made
    }
    expect(runValidation(strategy.validateUpdate?.(of(9, 'new'), of(9, 'old'), context))).toEqual([])
    expect(runValidation(strategy.validateUpdate?.(of(8, 'old'), of(9, 'old'), context))).toHaveLength(1)
    expect(runValidation(strategy.validate?.(of(9, 'old'), context))).toHaveLength(1)
  })
})
