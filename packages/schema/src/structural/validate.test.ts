import type { JsonObject, JsonValue } from '@krmkit/meta'
import { formatFieldError } from '@krmkit/meta/validation'
import { describe, expect, it } from 'vitest'
import { createSchemaNode } from '../schema-node.ts'
import { validateListTypes } from './list-types.direct.ts'
import { createSchemaValidator } from './validate.ts'

const spec = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...rest } },
})
const errorsOf = (schema: JsonObject, value: JsonValue, old?: JsonValue): string[] =>
  createSchemaValidator(schema)({ spec: value }, old === undefined ? {} : { old: { spec: old } }).map(formatFieldError)

type Case = [name: string, schema: JsonObject, value: JsonValue, errors: string[]]

describe('createSchemaValidator', () => {
  it('reports a missing required member after errors inside of others [P201]', () => {
    const schema = spec(
      { o: { type: 'object', required: ['x'], properties: { x: { type: 'string' }, y: { type: 'object', required: ['z'] } } } },
      { required: ['s'] },
    )
    expect(errorsOf(schema, { o: { y: {} } })).toEqual([
      'spec.o.y.z: Required value',
      'spec.o.x: Required value',
      'spec.s: Required value',
    ])
  })

  it.each<Case>([
    ['type', { type: 'string' }, 1, ['spec.f: Invalid value: "integer": spec.f in body must be of type string: "integer"']],
    ['integer', { type: 'integer' }, 2, []],
    ['fraction', { type: 'integer' }, 1.5, ['spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"']],
    [
      'integer or string',
      { 'x-kubernetes-int-or-string': true },
      true,
      ['spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"'],
    ],
    [
      'minimum',
      { type: 'integer', minimum: 2 },
      1,
      ['spec.f: Invalid value: 1: spec.f in body should be greater than or equal to 2'],
    ],
    [
      'exclusive maximum',
      { type: 'number', maximum: 2.5, exclusiveMaximum: true },
      2.5,
      ['spec.f: Invalid value: 2.5: spec.f in body should be less than 2.5'],
    ],
    ['multiple of a fraction', { type: 'number', multipleOf: 0.1 }, 0.3, []],
    [
      'integer and a fraction as factor',
      { type: 'number', multipleOf: 0.5 },
      2,
      ['spec.f: Invalid value: 0: factor MultipleOf declared for spec.f must be positive: 0'],
    ],
    [
      'integer and bounds with fractions, which lose them',
      { type: 'number', minimum: 11.5, maximum: 10.25 },
      10.5,
      [
        'spec.f: Invalid value: 10.5: spec.f in body should be greater than or equal to 11.5',
        'spec.f: Invalid value: 10.5: spec.f in body should be less than or equal to 10.25',
      ],
    ],
    ['integer at a bound without its fraction', { type: 'number', minimum: 11.5 }, 11, []],
    ['string length in code points', { type: 'string', maxLength: 2 }, '\u{1f600}\u{1f600}', []],
    [
      'first violation of a string',
      { type: 'string', minLength: 3, pattern: '^a' },
      'x',
      ['spec.f: Invalid value: "x": spec.f in body should be at least 3 chars long'],
    ],
    ['enumeration', { type: 'string', enum: ['a', 'b'] }, 'c', ['spec.f: Unsupported value: "c": supported values: "a", "b"']],
    [
      'format',
      { type: 'string', format: 'date-time' },
      'now',
      ['spec.f: Invalid value: "now": spec.f in body must be of type date-time: "now"'],
    ],
    ...['a-b', 'a-', 'host', '1', 'a.b-c-d.example', 'grüße.example'].map(
      (text): Case => [`hostname ${text}`, { type: 'string', format: 'hostname' }, text, []],
    ),
    ...['2024-13-01', 'a_b', 'a.b.', 'a.1', `${'a'.repeat(64)}.example`].map(
      (text): Case => [
        `invalid hostname ${text}`,
        { type: 'string', format: 'hostname' },
        text,
        [`spec.f: Invalid value: "${text}": spec.f in body must be of type hostname: "${text}"`],
      ],
    ),
    ['unknown format', { type: 'string', format: 'zip-code' }, 'x', []],
    [
      'list',
      { type: 'array', items: { type: 'integer' }, minItems: 3 },
      [1, 'x'],
      [
        'spec.f[1]: Invalid value: "string": spec.f[1] in body must be of type integer: "string"',
        'spec.f: Invalid value: 2: spec.f in body should have at least 3 items',
      ],
    ],
    [
      'too many properties',
      { type: 'object', maxProperties: 1 },
      { a: 1, b: 2 },
      ['spec.f: Too many: 2: must have at most 1 items'],
    ],
    [
      'anyOf',
      { type: 'string', anyOf: [{ pattern: '^a' }, { minLength: 5 }] },
      'b',
      [
        '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
        `spec.f: Invalid value: "b": spec.f in body should match '^a'`,
      ],
    ],
    [
      'oneOf',
      { type: 'integer', oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      6,
      ['<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'not',
      { type: 'string', not: { enum: ['x'] } },
      'x',
      ['<nil>: Invalid value: "": "spec.f" must not validate the schema (not)'],
    ],
  ])('validates %s', (_, schema, value, expected) => {
    expect(errorsOf(spec({ f: schema }), { f: value })).toEqual(expected)
  })

  it('accepts strings and lists where a checked format is given, regardless of type', () => {
    const schema = spec({ f: { type: 'object', format: 'uuid' }, n: { type: 'integer', format: 'ipv4' } })
    expect(errorsOf(schema, { f: ['a'] })).toEqual([])
    expect(errorsOf(schema, { f: 'a' })).toEqual(['spec.f: Invalid value: "a": spec.f in body must be of type uuid: "a"'])
    expect(errorsOf(schema, { f: 1 })).toEqual(['spec.f: Invalid value: "int64": spec.f in body must be of type uuid: "int64"'])
    expect(errorsOf(schema, { n: [] })).toEqual([
      'spec.n: Invalid value: "array": spec.n in body must be of type integer: "array"',
    ])
  })

  it('applies unchecked formats only with everyFormat', () => {
    const schema = { type: 'integer', format: 'int32' }
    expect(createSchemaValidator(schema)({}).map(formatFieldError)).toEqual([
      '<nil>: Invalid value: "object":  in body must be of type integer: "object"',
    ])
    expect(createSchemaValidator(schema, { everyFormat: true })({}).map(formatFieldError)).toEqual([
      '<nil>: Invalid value: "":  in body must be of type int32: ""',
    ])
  })

  it('reports too few members along with errors inside of members', () => {
    const schema = spec({ f: { type: 'object', minProperties: 2, properties: { a: { type: 'string' } } } })
    expect(errorsOf(schema, { f: { a: 1 } })).toHaveLength(2)
  })

  it('prefixes paths below a top-level map with a dot in messages', () => {
    const errors = createSchemaValidator({ type: 'object', additionalProperties: { type: 'string' } })({ a: 1 })
    expect(errors.map(formatFieldError)).toEqual(['a: Invalid value: "integer": .a in body must be of type string: "integer"'])
  })

  it('accepts unchanged invalid values in an update', () => {
    const item = { type: 'object', properties: { k: { type: 'string' }, n: { type: 'integer', maximum: 5 } } }
    const schema = spec({
      n: { type: 'integer', maximum: 5 },
      a: { type: 'string' },
      l: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    })
    expect(errorsOf(schema, { n: 9, a: 'new' }, { n: 9, a: 'old' })).toEqual([])
    expect(errorsOf(schema, { n: 10 }, { n: 9 })).toHaveLength(1)
    expect(errorsOf(schema, { l: [{ k: 'new' }, { k: 'a', n: 9 }] }, { l: [{ k: 'a', n: 9 }] })).toEqual([])
    expect(errorsOf(schema, { l: [{ k: 'b', n: 9 }] }, { l: [{ k: 'a', n: 9 }] })).toHaveLength(1)
  })

  it('reports an error once even if several parts of the schema cause it', () => {
    const part = { required: ['a', 'a'], properties: { n: { maximum: 3 } } }
    const schema = { type: 'object', ...part, allOf: [part, part] }
    expect(createSchemaValidator(schema)({ n: 5 }).map(formatFieldError)).toEqual([
      'n: Invalid value: 5: n in body should be less than or equal to 3',
      'a: Required value',
      '<nil>: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    ])
  })

  it('matches hostile patterns in linear time', () => {
    expect(errorsOf(spec({ f: { type: 'string', pattern: '^(a+)+$' } }), { f: `${'a'.repeat(20_000)}!` })).toHaveLength(1)
  })
})

describe('pauses for long patterns', () => {
  const looks = (schema: JsonObject, value: JsonValue) => {
    let count = 0
    for (const steps = createSchemaValidator(schema).paced(value); ; count++) if (steps.next().done === true) return count
  }

  it('are proportional to the length of the text', () => {
    const schema = { type: 'string', pattern: '^([a-z]+[.])*$' }
    const [once, twice] = [100_000, 200_000].map((length) => looks(schema, 'a-b.'.repeat(length)))
    expect(once).toBeGreaterThan(4)
    expect(twice).toBeGreaterThan(1.8 * (once as number))
  })

  it('occur for each string of a list, wherever its pattern is', () => {
    const pattern = '[ab]*a[ab]{900}c'
    const texts = Array.from({ length: 20 }, () => 'ab'.repeat(400))
    expect(looks({ items: { pattern } }, texts)).toBeGreaterThan(50)
    expect(looks({ items: { anyOf: [{ pattern }] } }, texts)).toBeGreaterThan(50)
  })

  it('surround the compilation of a large pattern', () => {
    const properties = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { pattern: `${name}|${'(a|b|c)*'.repeat(500)}` }]))
    expect(looks({ properties }, { a: 'a', b: 'b', c: 'c' })).toBeGreaterThan(5)
  })
})

describe('validateListTypes', () => {
  const node = createSchemaNode(
    spec({
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      map: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    }),
  )

  it('reports the first item of a map list that is not an object, and treats null as an item without keys', () => {
    const errors = (map: JsonValue[]) => validateListTypes({ spec: { map } }, node).map(formatFieldError)
    expect(errors([{ k: 1 }, { k: 1 }, 7, 'x'])).toEqual([
      'spec.map[2]: Invalid value: 7: must be an object for an array of list-type map',
    ])
    expect(errors([null, { k: 1 }])).toEqual([])
    expect(errors([null, { k: 1 }, {}])).toEqual(['spec.map[2]: Duplicate value: map[string]interface {}{}'])
  })

  it('reports each duplicate once', () => {
    const errors = validateListTypes({ spec: { set: ['a', 'b', 'a', 'a'], map: [{ k: 1 }, { k: 1, v: 2 }] } }, node)
    expect(errors.map(formatFieldError)).toEqual([
      'spec.set[2]: Duplicate value: "a"',
      'spec.map[1]: Duplicate value: map[string]interface {}{"k":1}',
    ])
  })
})
