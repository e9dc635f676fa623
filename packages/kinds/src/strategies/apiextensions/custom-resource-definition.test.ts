import { createFeatures, fakeClock, formatFieldError, type JsonObject, seededRandom, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { StrategyContext } from '../../interfaces.ts'
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.generated.ts'
import { cleanupFinalizer, customResourceDefinitionStrategy as policy } from './custom-resource-definition.ts'

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
  policy.defaults?.(object, 'v1', stockProfile)
  policy.prepareForCreate?.(object, context)
  return object
}

const faults = (object: CustomResourceDefinition): string[] => (policy.validate?.(object, context) ?? []).map(formatFieldError)
const field = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { f: schema } })
const at = 'spec.validation.openAPIV3Schema.properties[f]'

describe('definitions of custom resources', () => {
  it('get names, a conversion strategy and a stored version', () => {
    const object = definition()
    expect(object.spec.names).toEqual({ plural: 'gadgets', kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' })
    expect(object.spec.conversion).toEqual({ strategy: 'None' })
    expect(object.status).toEqual({ conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    expect(faults(object)).toEqual([])
  })

  it('tell defaults inside of metadata by where they end up', () => {
    expect(faults(definition({ type: 'object', properties: { kind: { type: 'string', default: 1 } } }))).toContain(
      'spec.validation.openAPIV3Schema.properties[kind].default: Invalid value: 1: must result in valid metadata: kind: Invalid value: 1: must be a string',
    )
    const [first] = faults(definition({ type: 'object', properties: { metadata: { type: 'object', default: 'a' } } }))
    expect(first).toMatch(/must result in valid metadata: metadata: Invalid value: "a": json: cannot unmarshal string/)
  })

  it('a storage version that comes twice is told twice', () => {
    const object = definition()
    const versions = object.spec.versions ?? []
    versions.push({ ...(versions[0] as NonNullable<(typeof versions)[0]>) })
    expect(faults(object).at(-1)).toBe('status.storedVersions: Invalid value: []string{"v1"}: must have the storage version v1')
  })

  it('selectable fields are looked up in the schema that stands beside them', () => {
    const object = definition(field({ type: 'string' }), { selectableFields: [{ jsonPath: '.f' }] })
    expect(faults(object)).toEqual([])
    const versions = object.spec.versions ?? []
    const [version] = versions
    versions.push({ ...(version as NonNullable<typeof version>), name: 'v2', storage: false, selectableFields: [] })
    expect(faults(object)).toEqual([
      'spec.versions[0].selectableFields: Invalid value: "": selectableFields may only be set when version.schema.openAPIV3Schema is not included',
    ])
  })

  it('an additional property that is forbidden inside of a junctor does not matter', () => {
    const branches = [{ type: 'integer' }, { type: 'string', additionalProperties: false }]
    expect(faults(definition(field({ 'x-kubernetes-int-or-string': true, anyOf: branches })))).toEqual([])
  })

  it('a bundle of certificates is looked at once the definition is served', () => {
    const conversion = (caBundle: string) => ({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://example.com', caBundle } },
    })
    const served = definition()
    served.metadata.resourceVersion = '1'
    served.status = { ...served.status, conditions: [{ type: 'Established', status: 'True' }] }
    const next = structuredClone(served)
    next.spec.conversion = conversion('YQ==')
    const errors = policy.validateUpdate?.(next, served, context) ?? []
    expect(errors.map(formatFieldError)).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: []byte{0x61}: unable to load root certificates: unable to parse bytes as PEM block',
    ])
    expect(faults({ ...next })).toEqual([])
  })

  it('P337 need a scope, a schema and a structural one', () => {
    const unscoped = definition()
    unscoped.spec.scope = ''
    expect(faults(unscoped)).toEqual(['spec.scope: Required value'])
    expect(faults(definition(undefined, { schema: {} }))).toEqual([
      'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
    ])
    expect(faults(definition(field({})))).toEqual([`${at}.type: Required value: must not be empty for specified object fields`])
  })

  it('P338 take columns by jsonPath and keep what is the same in all versions together', () => {
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
    // Only the junctors of the root are compared with what is described, as on the stock server.
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
  ])('refuse %s', (_, schema, expected) => {
    expect(faults(definition(field(schema)))).toEqual(expected)
  })

  it('describe whatever the junctors of the root speak of', () => {
    const root = 'spec.validation.openAPIV3Schema'
    expect(faults(definition({ type: 'object', not: { properties: { a: {} } } }))).toEqual([
      `${root}.properties[a]: Required value: because it is defined in ${root}.not.properties[a]`,
    ])
  })

  it('cannot change scope, kind or name once they are established', () => {
    const old = definition()
    old.status = { ...old.status, conditions: [{ type: 'Established', status: 'True' }] }
    const next = structuredClone(old)
    next.metadata.resourceVersion = '2'
    next.spec.scope = 'Cluster'
    next.spec.names.kind = 'Gizmo'
    const errors = (policy.validateUpdate?.(next, old, context) ?? []).map(formatFieldError)
    expect(errors).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gizmo": field is immutable',
    ])
  })

  it('are held by a finalizer when they are deleted', () => {
    const object = definition()
    policy.beginDeletion?.(object, context)
    expect(object.metadata.finalizers).toEqual([cleanupFinalizer])
    expect(object.status?.conditions).toMatchObject([{ type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' }])
  })
})
