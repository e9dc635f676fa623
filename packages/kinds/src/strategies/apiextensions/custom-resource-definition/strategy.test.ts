import { runAtOnce, type Work } from '@krmkit/base/work'
import { createFeatures, type FieldError, fakeClock, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { loadCel } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import type { StrategyContext } from '../../../interfaces.ts'
import { done, runPreparation } from '../../../preparation.ts'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { runValidation } from '../../../validation.ts'
import { completeDefinitionStrategy as strategy } from './complete.ts'
import { cleanupFinalizer, customResourceDefinitionStrategy } from './strategy.ts'

/** The errors of a new definition, and the number of yields of its validation. */
function errorsAndYields(object: CustomResourceDefinition): { errors: string[]; yields: number } {
  const steps = strategy.validate?.(object, context) as Work<FieldError[]>
  let yields = 0
  for (;;) {
    const { done: isDone, value } = steps.next()
    if (isDone === true) return { errors: value.map(formatFieldError), yields }
    yields++
  }
}

const context: StrategyContext = {
  clock: fakeClock(0),
  random: seededRandom(1),
  profile: stockProfile,
  features: createFeatures('1.33'),
}
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function definition(schema: JsonObject | undefined = open, version: JsonObject = {}): CustomResourceDefinition {
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.g.example.com' },
    spec: {
      group: 'g.example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(schema === undefined ? {} : { schema: { openAPIV3Schema: schema } }),
          ...version,
        },
      ],
    },
  } as unknown as CustomResourceDefinition
  runPreparation(strategy.defaults?.(object, 'v1', stockProfile))
  runPreparation(strategy.prepareForCreate?.(object, context))
  return object
}

const faults = (object: CustomResourceDefinition, { features }: Partial<StrategyContext> = context): string[] =>
  runValidation(strategy.validate?.(object, { ...context, ...(features === undefined ? {} : { features }) })).map(
    formatFieldError,
  )
const field = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { f: schema } })
const at = 'spec.validation.openAPIV3Schema.properties[f]'

describe('custom resource definitions', () => {
  it('are validated by servers once the rules are loaded', async () => {
    const object = definition({ type: 'object', properties: { f: { type: 'strange' } } })
    expect(() => customResourceDefinitionStrategy.validate?.(object, context)).toThrow('await ready() first')
    await customResourceDefinitionStrategy.ready?.(object, undefined)
    expect(customResourceDefinitionStrategy.ready?.(object, undefined)).toBeUndefined()
    const errors = runValidation(customResourceDefinitionStrategy.validate?.(object, context)).map(formatFieldError)
    expect(errors).toEqual(faults(object))
    expect(errors).toHaveLength(1)
  })

  it('default names, the conversion strategy and stored versions', () => {
    const object = definition()
    expect(object.spec.names).toEqual({ plural: 'gadgets', kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' })
    expect(object.spec.conversion).toEqual({ strategy: 'None' })
    expect(object.status).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    expect(faults(object)).toEqual([])
  })

  it('report defaults within metadata at their position in the object', () => {
    expect(faults(definition({ type: 'object', properties: { kind: { type: 'string', default: 1 } } }))).toContain(
      'spec.validation.openAPIV3Schema.properties[kind].default: Invalid value: 1: must result in valid metadata: kind: Invalid value: 1: must be a string',
    )
    const [first] = faults(definition({ type: 'object', properties: { metadata: { type: 'object', default: 'a' } } }))
    expect(first).toMatch(/must result in valid metadata: metadata: Invalid value: "a": json: cannot unmarshal string/)
  })

  it('name the map of an unknown type around what cannot be correlated', async () => {
    await loadCel()
    const rules = [{ rule: 'oldSelf.hasValue()', optionalOldSelf: true }]
    const members = { a: { type: 'string', maxLength: 5, 'x-kubernetes-validations': rules } }
    const { errors } = errorsAndYields(
      definition({ type: 'object', properties: { m: { type: 'object', 'x-kubernetes-map-type': 'x', properties: members } } }),
    )
    expect(errors.filter((text) => text.includes('oldSelf'))).toEqual([
      'spec.validation.openAPIV3Schema.properties[m].properties[a].x-kubernetes-validations[0].rule: Invalid value: "oldSelf.hasValue()": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[m]',
    ])
  })

  it('are stored without items that are null, in dry runs too', () => {
    const items = () => definition({ type: 'object', properties: { a: { not: { items: null } } } } as unknown as JsonObject)
    const shown = (dryRun: boolean) => {
      const object = items()
      runAtOnce(strategy.canonicalize?.(object, { ...context, dryRun }) ?? done)
      return object.spec.versions?.[0]?.schema?.openAPIV3Schema?.properties?.['a']?.not
    }
    expect([shown(false), shown(true)]).toEqual([{}, {}])
  })

  it('refuse unknown members of defaults, null ones too', () => {
    const unknown = 'Invalid value: map[string]interface {}{"x":interface {}(nil)}: must not have unknown fields'
    expect(faults(definition(field({ type: 'object', default: { x: null } })))).toEqual([`${at}.default: ${unknown}`])
  })

  it('check numeric formats of defaults from 1.36 on', () => {
    const object = definition(field({ type: 'integer', default: 1.5 }))
    const mistyped = `${at}.default: Invalid value: "number":  in body must be of type integer: "number"`
    expect(faults(object)).toEqual([mistyped])
    expect(faults(object, { features: createFeatures('1.36') })).toEqual([
      mistyped,
      `${at}.default: Invalid value: "": Checked value must be of type integer (default format) in `,
    ])
  })

  it('validate no further defaults once a rule has exceeded its cost', async () => {
    await loadCel()
    const loops = 'self.all(a, self.all(b, self.all(c, self.all(d, true))))'
    const items = { type: 'integer', default: 'wrong' }
    const rules = [{ rule: loops }]
    const list = { type: 'array', items, default: Array.from({ length: 40 }, () => 1), 'x-kubernetes-validations': rules }
    const errors = faults(definition(field(list)))
    expect(errors.filter((text) => text.includes('no further validation rules will be run'))).toHaveLength(1)
    expect(errors.filter((text) => text.startsWith(`${at}.items.default`))).toEqual([])
  })

  it('end no quoted name of a field path at a quote after a backslash', () => {
    const rules = [{ rule: 'true', fieldPath: "['a\\\\']" }]
    expect(
      faults(definition(field({ type: 'object', properties: { 'a\\': { type: 'string' } }, 'x-kubernetes-validations': rules }))),
    ).toContain(`${at}.x-kubernetes-validations[0].fieldPath: Invalid value: "['a\\\\\\\\']": fieldPath must be a valid path`)
  })

  it('name forbidden members of defaults after a dot', () => {
    const closed = { type: 'object', additionalProperties: false, default: { x: 1 } }
    expect(faults(definition(field(closed)))).toContain(`${at}.default: Invalid value: "x": .x in body is a forbidden property`)
  })

  it('are of a new generation when a default appears, even an empty one', () => {
    const text = { type: 'string', format: 'date-time' }
    const old = { ...definition(field(text)), metadata: { name: 'gadgets.g.example.com', generation: 3 } }
    const generation = (value?: JsonObject[string]) => {
      const object = definition(field({ ...text, ...(value === undefined ? {} : { default: value }) }))
      runPreparation(strategy.prepareForUpdate?.(object, old, context))
      return object.metadata.generation
    }
    expect([generation(), generation([]), generation({})]).toEqual([3, 4, 4])
  })

  it('print the dependencies of a schema as Go does', () => {
    const dependencies = { a: ['b'], c: { type: 'string' } }
    const [first] = faults(definition({ type: 'object', dependencies, not: {} } as JsonObject, { subresources: { status: {} } }))
    const value = 'apiextensions.JSONSchemaPropsOrStringArray{Schema:(*apiextensions.JSONSchemaProps)'
    expect(first).toContain(
      `Dependencies:apiextensions.JSONSchemaDependencies{"a":${value}(nil), Property:[]string{"b"}}, "c":${value}(0xc000000000), Property:[]string(nil)}}`,
    )
  })

  it('report a duplicate storage version twice', () => {
    const object = definition()
    const versions = object.spec.versions ?? []
    versions.push({ ...(versions[0] as NonNullable<(typeof versions)[0]>) })
    expect(faults(object).at(-1)).toBe('status.storedVersions: Invalid value: []string{"v1"}: must have the storage version v1')
  })

  it('look up selectable fields in the schema of their version', () => {
    const object = definition(field({ type: 'string' }), { selectableFields: [{ jsonPath: '.f' }] })
    expect(faults(object)).toEqual([])
    const versions = object.spec.versions ?? []
    const [version] = versions
    versions.push({ ...(version as NonNullable<typeof version>), name: 'v2', storage: false, selectableFields: [] })
    expect(faults(object)).toEqual([
      'spec.versions[0].selectableFields: Invalid value: "": selectableFields may only be set when version.schema.openAPIV3Schema is not included',
    ])
  })

  it('look up selectable fields in an empty shared schema too', () => {
    const object = definition(field({ type: 'string' }), { schema: {}, selectableFields: [{ jsonPath: '' }] })
    expect(faults(object)).toEqual([
      'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
      'spec.selectableFields[0].jsonPath: Required value',
    ])
  })

  it.each([[[]], [{}], [0], [false], ['']])('forbid the default %j within a junctor', (value) => {
    expect(faults(definition(field({ type: 'string', not: { default: value } })))).toContainEqual(
      expect.stringMatching(/\.not\.default: Forbidden: must be undefined to be structural$/),
    )
  })

  it('accept a forbidden additional property within a junctor', () => {
    const branches = [{ type: 'integer' }, { type: 'string', additionalProperties: false }]
    expect(faults(definition(field({ 'x-kubernetes-int-or-string': true, anyOf: branches })))).toEqual([])
  })

  it('validate the CA bundle once the definition is served', () => {
    const conversion = (caBundle: string) => ({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com', caBundle } },
    })
    const served = definition()
    served.metadata.resourceVersion = '1'
    served.status = { ...served.status, conditions: [{ type: 'Established', status: 'True' }] }
    const next = structuredClone(served)
    next.spec.conversion = conversion('YQ==')
    const errors = runValidation(strategy.validateUpdate?.(next, served, context))
    expect(errors.map(formatFieldError)).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: []byte{0x61}: unable to load root certificates: unable to parse bytes as PEM block',
    ])
    expect(faults({ ...next })).toEqual([])
  })

  it('require a scope, a schema and structure [P337]', () => {
    const unscoped = definition()
    unscoped.spec.scope = ''
    expect(faults(unscoped)).toEqual(['spec.scope: Required value'])
    expect(faults(definition(undefined, { schema: {} }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
    ])
    expect(faults(definition(field({})))).toEqual([`${at}.type: Required value: must not be empty for specified object fields`])
  })

  it('accept columns by JSONPath and share what all versions have in common [P338]', () => {
    const bad = { additionalPrinterColumns: [{ name: 'S', type: 'text', jsonPath: '.spec.s' }] }
    expect(faults(definition(open, bad))).toEqual([
      'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ])
    const two = definition(open, bad)
    two.spec.versions?.push({ name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: open } as never })
    expect(faults(two)).toEqual([
      'spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ])
  })

  it.each<[string, JsonObject, string[]]>([
    ['keywords that are not supported', { $ref: '#/x' }, [`${at}.$ref: Forbidden: $ref is not supported`]],
    [
      'a pattern that is none',
      { type: 'string', pattern: '(' },
      [
        `${at}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
      ],
    ],
    [
      'structure in a junctor',
      { type: 'string', anyOf: [{ type: 'string' }] },
      [`${at}.anyOf[0].type: Forbidden: must be empty to be structural`],
    ],
    // Only junctors of the root are compared with the described properties, as on kube-apiserver.
    ['nothing about a junctor inside of the schema', { type: 'object', not: { properties: { a: {} } } }, []],
    [
      'a rule without text, and a path to nowhere',
      { type: 'string', 'x-kubernetes-validations': [{ rule: ' ', fieldPath: '.a' }] },
      [
        `${at}.x-kubernetes-validations[0].rule: Required value: rule is not specified`,
        `${at}.x-kubernetes-validations[0].fieldPath: Invalid value: ".a": fieldPath must be a valid path`,
      ],
    ],
    [
      'a default that does not fit',
      { type: 'integer', default: 'x' },
      [`${at}.default: Invalid value: "string":  in body must be of type integer: "string"`],
    ],
    ['a list without items', { type: 'array' }, [`${at}.items: Required value: must be specified`]],
    [
      'a map without keys',
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
      [`${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    ],
  ])('reject %s', (_, schema, expected) => {
    expect(faults(definition(field(schema)))).toEqual(expected)
  })

  it('require properties of root junctors to be described outside of them', () => {
    const root = 'spec.validation.openAPIV3Schema'
    expect(faults(definition({ type: 'object', not: { properties: { a: {} } } }))).toEqual([
      `${root}.properties[a]: Required value: because it is defined in ${root}.not.properties[a]`,
    ])
  })

  it('cannot change scope, kind or name once established', () => {
    const old = definition()
    old.status = { ...old.status, conditions: [{ type: 'Established', status: 'True' }] }
    const next = structuredClone(old)
    next.metadata.resourceVersion = '2'
    next.spec.scope = 'Cluster'
    next.spec.names.kind = 'Gizmo'
    const errors = runValidation(strategy.validateUpdate?.(next, old, context)).map(formatFieldError)
    expect(errors).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gizmo": field is immutable',
    ])
  })

  it('are held by a finalizer during deletion', () => {
    const object = definition()
    strategy.beginDeletion?.(object, context)
    expect(object.metadata.finalizers).toEqual([cleanupFinalizer])
    expect(object.status?.conditions).toMatchObject([{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' }])
  })
})

describe('a large definition', () => {
  const properties = (count: number, make: (index: number) => JsonObject): JsonObject => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, make(i)])),
  })
  const schemas: Record<string, JsonObject> = {
    properties: properties(2000, () => ({ type: 'string' })),
    patterns: properties(500, (i) => ({ type: 'string', pattern: `^a{1,9}${i}$` })),
    'bad patterns': properties(500, () => ({ type: 'string', pattern: '(' })),
    'missing types': properties(2000, () => ({})),
    alternatives: {
      type: 'object',
      properties: { a: { type: 'object', anyOf: Array.from({ length: 500 }, () => ({ properties: { b: {} } })) } },
    },
    defaults: properties(500, () => ({ type: 'string', default: 'a' })),
  }

  it.each(Object.entries(schemas))('is validated in many steps, with the same errors: %s', (_, schema) => {
    const object = definition(schema)
    const { errors, yields } = errorsAndYields(object)
    expect(errors).toEqual(runValidation(strategy.validate?.(object, context)).map(formatFieldError))
    expect(yields).toBeGreaterThan(500)
  })
})
