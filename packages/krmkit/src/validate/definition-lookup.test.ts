import { parseYaml } from '@krmkit/schema'
import { createTestServer } from '@krmkit/testing'
import { describe, expect, it } from 'vitest'
import { catalogLookup, clusterLookup, type DefinitionLookup } from './definition-lookup.ts'
import { definitionFromJsonSchema } from './json-schema-definition.ts'
import { widgetDefinition } from './testing/templates.ts'
import { type ValidateRunOptions, validateManifests } from './validate-manifests.ts'

const widget = (rest: string, version = 'v1', name = 'a') =>
  `apiVersion: shop.example.com/${version}\nkind: Widget\nmetadata: {name: ${name}}\n${rest}`
const gvk = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }

const findingsIn = async (texts: readonly string[], options: ValidateRunOptions) => {
  const files = texts.map((text, i) => ({ path: `${i}.yaml`, text }))
  const { findings } = await validateManifests(files, options)
  return findings.map(({ rule, path, message }) => `${rule} ${path}: ${message}`)
}

/** An in-memory catalog that records which schemas are read. */
function memoryCatalog(schemas: Readonly<Record<string, unknown>>) {
  const reads: string[] = []
  const read = async (path: string) => {
    reads.push(path)
    const schema = schemas[path]
    return schema === undefined || typeof schema === 'string' ? schema : JSON.stringify(schema)
  }
  return { lookup: catalogLookup({ read }), reads }
}

describe('catalogLookup', () => {
  const sized = { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false }

  it('reads a schema once, and only for undefined kinds', async () => {
    const { lookup, reads } = memoryCatalog({
      'shop.example.com/widget_v1.json': { type: 'object', properties: { spec: sized } },
    })
    const texts = [widget('spec: {size: 1}\n'), widget('spec: {size: big, colour: red}\n', 'v1', 'b')]
    expect(await findingsIn([...texts, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'], { lookups: [lookup] })).toEqual(
      [expect.stringMatching(/^type spec.size: /), 'unknown-field spec.colour: unknown field'],
    )
    expect(reads).toEqual(['shop.example.com/widget_v1.json'])
    expect(await findingsIn([widgetDefinition, widget('spec: {size: 1}\n')], { lookups: [lookup] })).toEqual([])
    expect(reads).toHaveLength(1)
  })

  it('reads each version, and reports missing ones', async () => {
    const { lookup, reads } = memoryCatalog({ 'shop.example.com/widget_v1.json': sized })
    const texts = [widget('size: 1\n'), widget('size: 1\n', 'v2', 'b')]
    expect(await findingsIn(texts, { lookups: [lookup] })).toEqual([
      'missing-definition kind: neither the files nor the catalog defines shop.example.com/v2 Widget',
    ])
    expect(reads).toEqual(['shop.example.com/widget_v1.json', 'shop.example.com/widget_v2.json'])
  })

  it('queries sources in order', async () => {
    const first = memoryCatalog({})
    const second = memoryCatalog({ 'shop.example.com/widget_v1.json': sized })
    const third = memoryCatalog({})
    const lookups = [first, second, third].map(({ lookup }) => lookup)
    expect(await findingsIn([widget('size: 1\n')], { lookups })).toEqual([])
    expect([first, second, third].map(({ reads }) => reads.length)).toEqual([1, 1, 0])
  })

  it.each([
    ['apiVersion: ../../etc/v1\nkind: Widget\n'],
    ['apiVersion: a.example.com/v1\nkind: ../../passwd\n'],
    ['apiVersion: a.example.com/..\nkind: Widget\n'],
    ['apiVersion: a.example.com/v1\nkind: "Widget?x=1"\n'],
    ['apiVersion: a.example.com/v1\nkind: "{group}"\n'],
    [`apiVersion: a.example.com/v1\nkind: ${'W'.repeat(300)}\n`],
  ])('reads nothing for an invalid kind: %j', async (text) => {
    const { lookup, reads } = memoryCatalog({})
    const found = await findingsIn([`${text}metadata: {name: a}\n`], { lookups: [lookup] })
    expect(found).toHaveLength(1)
    expect(reads).toEqual([])
  })

  it.each([
    ['text that is not JSON', 'not json', 'the schema is not JSON'],
    ['a list', [], 'it is not a JSON object'],
    ['a schema of texts', { type: 'string' }, 'it is not the schema of an object'],
    ['a keyword of a wrong type', { type: 'object', properties: { a: { type: 'string', maxLength: 'x' } } }, 'maxLength'],
    ['endless nesting', `${'{"items":'.repeat(100_000)}{}${'}'.repeat(100_000)}`, 'it nests deeper than 64 levels'],
  ])('reports %s', async (_, schema, message) => {
    const { lookup } = memoryCatalog({ 'shop.example.com/widget_v1.json': schema })
    const found = await findingsIn([widget('')], { lookups: [lookup] })
    expect(found).toEqual([
      expect.stringContaining('unreadable-definition kind: the definition of shop.example.com/v1 Widget cannot be read: '),
    ])
    expect(found[0]).toContain(message)
  })

  it('reports a failing source for every object, and queries it once per kind', async () => {
    let calls = 0
    const lookup: DefinitionLookup = {
      name: 'the catalog https://schemas.example.com/',
      find: async () => {
        calls++
        throw new Error('connection refused')
      },
    }
    const found = await findingsIn([widget(''), widget('', 'v1', 'b')], { lookups: [lookup] })
    const message =
      'unreadable-definition kind: the definition of shop.example.com/v1 Widget cannot be read: the catalog https://schemas.example.com/: connection refused'
    expect(found).toEqual([message, message])
    expect(calls).toBe(1)
  })

  it('accepts missing schemas if missing definitions are accepted, but no unreadable ones', async () => {
    const rules = { 'missing-definition': 'off', 'unknown-kind': 'off' } as const
    const files = [{ path: 'a.yaml', text: widget('') }]
    const absent = await validateManifests(files, { rules, lookups: [memoryCatalog({}).lookup] })
    expect(absent.summary).toMatchObject({ errors: 0, unchecked: 1 })
    const broken = memoryCatalog({ 'shop.example.com/widget_v1.json': 'x' }).lookup
    expect((await validateManifests(files, { rules, lookups: [broken] })).summary).toMatchObject({ errors: 1 })
  })

  it('stops when the signal of the run aborts', async () => {
    const abort = new AbortController()
    const find: DefinitionLookup['find'] = async () => {
      abort.abort(new Error('enough'))
      throw new Error('interrupted')
    }
    const running = findingsIn([widget('')], { lookups: [{ name: 'slow', find }], signal: abort.signal })
    await expect(running).rejects.toThrow('enough')
  })
})

describe('clusterLookup', () => {
  it('validates with the definitions of a cluster', async () => {
    await using cluster = await createTestServer()
    await cluster.client.create(
      {
        group: 'apiextensions.k8s.io',
        version: 'v1',
        resource: 'customresourcedefinitions',
        kind: 'CustomResourceDefinition',
        namespaced: false,
      },
      parseYaml(widgetDefinition).value as never,
    )
    const lookups = [await clusterLookup(cluster.client)]
    expect(await findingsIn([widget('spec: {size: 101}\n')], { lookups })).toEqual([
      'invalid spec: Invalid value: "object": must not be above one hundred',
    ])
    expect(await findingsIn([widget('', 'v9')], { lookups })).toEqual([
      'unknown-kind kind: the definition of Widget does not have version v9; served: v1, v1alpha1',
    ])
  })
})

describe('definitionFromJsonSchema', () => {
  const at = async (spec: string, schema: object) => {
    const definitions = [definitionFromJsonSchema(gvk, { type: 'object', properties: { spec: schema } })]
    return findingsIn([widget(`spec: ${spec}\n`)], { definitions })
  }
  const either = [{ type: 'integer' }, { type: 'string' }]

  it.each([
    ['null where an alternative allows it', 'null', { oneOf: [{ type: 'object', properties: {} }, { type: 'null' }] }],
    ['null where the type allows it', '{a: null}', { type: 'object', properties: { a: { type: ['string', 'null'] } } }],
    ['numbers and texts of intOrString', '{a: 1, b: x}', { type: 'object', additionalProperties: { oneOf: either } }],
    ['any field without additionalProperties', '{a: {b: 1}}', { type: 'object' }],
    ['any value of a reference to another document', '{a: 1}', { $ref: '_definitions.json#/definitions/other' }],
    ['a constant', '{a: x}', { type: 'object', properties: { a: { const: 'x' } } }],
    ['any value without a type', '[1, a]', {}],
    [
      'fields that alternatives name',
      '{a: 1}',
      {
        type: 'object',
        properties: { a: { type: 'integer' } },
        additionalProperties: false,
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
    ],
  ])('accepts %s', async (_, spec, schema) => {
    expect(await at(spec, schema)).toEqual([])
  })

  it.each([
    [
      'unknown fields',
      '{b: 1}',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      'unknown-field spec.b',
    ],
    [
      'values below an exclusive bound',
      '{a: 1}',
      { type: 'object', properties: { a: { type: 'integer', exclusiveMinimum: 1 } } },
      'invalid spec.a',
    ],
    [
      'null where it is not allowed',
      '{a: null, b: 1}',
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      'required spec.a',
    ],
    [
      'texts of other forms',
      '{a: B}',
      { type: 'object', properties: { a: { type: 'string', pattern: '^a$' } } },
      'invalid spec.a',
    ],
    [
      'values of failed expressions',
      '{a: 1}',
      { type: 'object', properties: { a: { type: 'integer' } }, 'x-kubernetes-validations': [{ rule: 'self.a > 1' }] },
      'invalid spec',
    ],
    ['another value than the constant', '{a: y}', { type: 'object', properties: { a: { const: 'x' } } }, 'not-supported spec.a'],
    ['no alternative', '{a: 1}', { type: 'object', anyOf: [{ required: ['b'] }, { required: ['c'] }] }, 'required spec.b'],
  ])('rejects %s', async (_, spec, schema, finding) => {
    expect((await at(spec, schema)).map((text) => text.slice(0, finding.length))).toContain(finding)
  })

  describe('with references', () => {
    const definitions = {
      size: { type: 'integer', minimum: 1 },
      'a/b': { type: 'object', additionalProperties: false, properties: { size: { $ref: '#/definitions/size' } } },
      tree: { type: 'object', properties: { left: { $ref: '#/definitions/tree' }, size: { $ref: '#/definitions/size' } } },
    }
    const within = async (spec: string, schema: object) => {
      const root = { type: 'object', definitions, properties: { spec: schema } }
      return findingsIn([widget(`spec: ${spec}\n`)], { definitions: [definitionFromJsonSchema(gvk, root)] })
    }

    it.each([
      ['{size: 1}', '#/definitions/a~1b', undefined],
      ['{size: 0}', '#/definitions/a~1b', 'invalid spec.size'],
      ['{sizes: 0}', '#/definitions/a~1b', 'unknown-field spec.sizes'],
      ['{size: 0}', '#/definitions/tree', 'invalid spec.size'],
      // The recursive reference accepts any value.
      ['{size: 1, left: {size: 0}}', '#/definitions/tree', undefined],
    ])('validates %s by %s: %s', async (spec, $ref, finding) => {
      const found = (await within(spec, { $ref })).map((text) => text.split(' ').slice(0, 2).join(' '))
      expect(found).toEqual(finding === undefined ? [] : [expect.stringContaining(finding)])
    })

    it('rejects references without a schema, and documents that expand beyond the limits', async () => {
      expect(() => definitionFromJsonSchema(gvk, { properties: { spec: { $ref: '#/definitions/none' } } })).toThrow(
        'the schema is invalid: it has no schema at "#/definitions/none"',
      )
      const twice = (name: string) => ({
        properties: { a: { $ref: `#/definitions/${name}` }, b: { $ref: `#/definitions/${name}` } },
      })
      const bomb = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`d${i}`, i === 24 ? {} : twice(`d${i + 1}`)]))
      expect(() => definitionFromJsonSchema(gvk, { definitions: bomb, ...twice('d0') })).toThrow('more than 100000 parts')
    })
  })

  it('omits descriptions', () => {
    const schema = { type: 'object', description: 'Words.', properties: { a: { type: 'string', description: 'More words.' } } }
    expect(JSON.stringify(definitionFromJsonSchema(gvk, schema))).not.toMatch(/words/i)
  })
})
