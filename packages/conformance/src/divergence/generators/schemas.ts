import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'
import { randomRules } from './rules.ts'

/** Random structural schemas of custom resources, and values for them. */

export type Schema = Record<string, JsonValue>

/** Names of properties, in the order in which schemas take them. */
const propertyNames = ['name', 'size', 'mode', 'tags', 'parts', 'limits', 'inner', 'a', 'b-c', 'type', 'enabled', 'items', 'x_y']

/** A valid schema of a custom resource with `spec` and `status`. */
export function randomRootSchema(random: RandomChoices): Schema {
  const root: Schema = {
    type: 'object',
    properties: { spec: objectSchema(random, 0), status: statusSchema(random) },
  }
  if (random.chance(15)) root['required'] = ['spec']
  if (random.chance(10)) root['x-kubernetes-preserve-unknown-fields'] = true
  if (random.chance(10)) (root['properties'] as Schema)['metadata'] = metadataSchema(random)
  if (random.chance(15)) (root['properties'] as Schema)['data'] = randomSchema(random, 2)
  if (random.chance(15)) root['x-kubernetes-validations'] = structuredClone(random.pick(rootRules))
  return root
}

const rootRules: readonly JsonValue[] = [
  [{ rule: 'self.metadata.name.size() < 40' }],
  [{ rule: 'has(self.spec)', message: 'spec is needed' }],
  [{ rule: "self.kind != 'X' && self.apiVersion.contains('/')" }],
  [{ rule: '!has(oldSelf.spec) || has(self.spec)', message: 'spec stays' }],
]

function metadataSchema(random: RandomChoices): Schema {
  return {
    type: 'object',
    properties: {
      name: { type: 'string', ...random.pick<Schema>([{ maxLength: 40 }, { pattern: '^[a-z0-9-]+$' }, { minLength: 1 }]) },
    },
  }
}

function statusSchema(random: RandomChoices): Schema {
  const properties: Schema = {
    phase: { type: 'string', ...(random.chance(50) ? { enum: ['Ready', 'Failed', 'x'] } : {}) },
    replicas: { type: 'integer', format: 'int32' },
    selector: { type: 'string' },
  }
  if (random.chance(40)) properties['conditions'] = structuredClone(conditionsSchema)
  return { type: 'object', properties, ...(random.chance(30) ? { default: {} } : {}) }
}

const conditionsSchema: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: { type: 'string' },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
  },
}

/** A valid schema of any type. */
export function randomSchema(random: RandomChoices, depth: number): Schema {
  const schema = plainSchema(random, depth)
  if (random.chance(12)) schema['nullable'] = true
  if (random.chance(10)) schema['description'] = 'text'
  if (random.chance(4)) schema['title'] = 'title'
  if (random.chance(22) && schema['default'] === undefined) schema['default'] = validValue(schema, random)
  if (random.chance(25)) {
    const rules = randomRules(schema, random)
    if (rules.length > 0) schema['x-kubernetes-validations'] = rules
  }
  return schema
}

function plainSchema(random: RandomChoices, depth: number): Schema {
  const kind = depth > 3 ? random.below(5) : random.below(12)
  switch (kind) {
    case 0:
    case 1:
      return stringSchema(random)
    case 2:
      return numberSchema('integer', random)
    case 3:
      return numberSchema('number', random)
    case 4:
      return { type: 'boolean' }
    case 5:
    case 6:
      return listSchema(random, depth)
    case 7:
      return mapSchema(random, depth)
    case 8:
    case 9:
      return objectSchema(random, depth)
    case 10:
      return intOrString(random)
    default:
      return opaqueSchema(random)
  }
}

function stringSchema(random: RandomChoices): Schema {
  const schema: Schema = { type: 'string', maxLength: random.pick([3, 10, 63]) }
  if (random.chance(15)) schema['minLength'] = random.pick([0, 1, 2])
  if (random.chance(20)) schema['pattern'] = random.pick(['^[a-z]+$', 'a|b', '^\\d{1,3}$', '^(a|b)*$', '[[:alpha:]]', '\\p{Lu}?'])
  if (random.chance(25)) {
    schema['format'] = random.pick(stringFormats)
    delete schema['pattern']
    schema['maxLength'] = 63
  }
  if (random.chance(15)) return { type: 'string', enum: ['red', 'green', 'blue'].slice(0, 1 + random.below(3)) }
  return schema
}

const stringFormats = [
  'date-time',
  'date',
  'duration',
  'byte',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid4',
  'uri',
  'email',
  'hostname',
  'password',
  'isbn',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'bsonobjectid',
  'own-format',
  'k8s-short-name',
  'datetime',
  'isbn10',
  'uuid3',
] // prettier-ignore

function numberSchema(type: 'integer' | 'number', random: RandomChoices): Schema {
  const schema: Schema = { type }
  if (random.chance(30)) schema['minimum'] = random.pick(type === 'integer' ? [0, 1, -5] : [0, 0.5, -1.5])
  if (random.chance(30)) schema['maximum'] = random.pick(type === 'integer' ? [5, 10, 100] : [5, 10.25, 100])
  if (random.chance(15) && 'minimum' in schema) schema['exclusiveMinimum'] = random.chance(80)
  if (random.chance(15) && 'maximum' in schema) schema['exclusiveMaximum'] = random.chance(80)
  if (random.chance(15)) schema['multipleOf'] = type === 'integer' ? random.pick([1, 2, 5]) : random.pick([0.5, 0.1, 2])
  if (random.chance(20))
    schema['format'] = type === 'integer' ? random.pick(['int32', 'int64']) : random.pick(['float', 'double'])
  if (random.chance(8)) return { type, enum: type === 'integer' ? [1, 2, 4] : [1, 2.5] }
  return schema
}

function intOrString(random: RandomChoices): Schema {
  const schema: Schema = { 'x-kubernetes-int-or-string': true }
  if (random.chance(40)) schema['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
  if (random.chance(20)) schema['pattern'] = '^\\d+%?$'
  if (random.chance(20)) schema['maxLength'] = 5
  return schema
}

function opaqueSchema(random: RandomChoices): Schema {
  switch (random.below(4)) {
    case 0:
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    case 1:
      return { 'x-kubernetes-preserve-unknown-fields': true }
    case 2:
      return { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
    default:
      return {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { a: { type: 'string', maxLength: 5 }, b: { type: 'object', properties: { c: { type: 'integer' } } } },
      }
  }
}

function listSchema(random: RandomChoices, depth: number): Schema {
  const base: Schema = { type: 'array', maxItems: random.pick([2, 3, 5]) }
  if (random.chance(15)) base['minItems'] = random.pick([0, 1])
  switch (random.below(5)) {
    case 0: {
      const items = random.pick<Schema>([
        { type: 'string', maxLength: 10 },
        { type: 'integer' },
        { type: 'string', enum: ['a', 'b'] },
      ])
      return { ...base, items, 'x-kubernetes-list-type': 'set' }
    }
    case 1:
      return { ...base, items: randomSchema(random, depth + 1), 'x-kubernetes-list-type': 'atomic' }
    case 2:
    case 3: {
      const keys = random.chance(30) ? ['name', 'port'] : ['name']
      const properties: Schema = {
        name: { type: 'string', maxLength: 10 },
        port: { type: 'integer', ...(random.chance(50) && keys.length > 1 ? { default: 80 } : {}) },
        value: randomSchema(random, depth + 2),
      }
      // A key that is not required needs a default.
      const required = keys.filter((key) => (properties[key] as Schema)['default'] === undefined)
      const items: Schema = { type: 'object', properties, required }
      return { ...base, items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }
    }
    default:
      return { ...base, items: randomSchema(random, depth + 1) }
  }
}

function mapSchema(random: RandomChoices, depth: number): Schema {
  const schema: Schema = {
    type: 'object',
    maxProperties: random.pick([2, 4]),
    additionalProperties: randomSchema(random, depth + 1),
  }
  if (random.chance(15)) schema['minProperties'] = 1
  if (random.chance(15)) schema['x-kubernetes-map-type'] = random.pick(['granular', 'atomic'])
  return schema
}

function objectSchema(random: RandomChoices, depth: number): Schema {
  const names = propertyNames.filter(() => random.chance(depth === 0 ? 35 : 18))
  if (depth === 0 && names.length < 2) names.push('name', 'size')
  const properties: Schema = {}
  for (const name of names) properties[name] = randomSchema(random, depth + 1)
  if (depth === 0) properties['replicas'] = { type: 'integer', ...(random.chance(50) ? { minimum: 0 } : {}) }
  const schema: Schema = { type: 'object', properties }
  if (random.chance(25)) schema['required'] = names.filter(() => random.chance(40))
  if (random.chance(8)) schema['x-kubernetes-map-type'] = random.pick(['granular', 'atomic'])
  if (random.chance(8)) schema['x-kubernetes-preserve-unknown-fields'] = true
  if (random.chance(8)) schema['maxProperties'] = 4
  if (random.chance(10) && names.length > 1) Object.assign(schema, junctors(names, random))
  return schema
}

/** Value validation by combination, which names properties without describing them anew. */
function junctors(names: readonly string[], random: RandomChoices): Schema {
  const required = (name: string | undefined): JsonValue => ({ required: [name ?? ''] })
  return random.pick<Schema>([
    { oneOf: [required(names[0]), required(names[1])] },
    { anyOf: [required(names[0]), required(names[1])] },
    { allOf: [required(names[0]), { maxProperties: 5 }] },
    { not: { required: names.slice(0, 2) } },
    { not: { required: ['replicas', names[0] ?? ''] } },
  ])
}

/** A value that mostly satisfies the schema. */
export function validValue(schema: Schema, random: RandomChoices): JsonValue {
  if (schema['nullable'] === true && random.chance(8)) return null
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'] as JsonValue[])
  switch (schema['type']) {
    case 'string':
      return stringValue(schema, random)
    case 'integer':
      return clamp(random.pick([1, 2, 3, 4, 5]), schema)
    case 'number':
      return clamp(random.pick([1, 2.5, 3, 4]), schema)
    case 'boolean':
      return random.chance(50)
    case 'array':
      return listValue(schema, random)
    case 'object':
      return objectValue(schema, random)
    default:
      return schema['x-kubernetes-int-or-string'] === true
        ? random.pick<JsonValue>([1, '50%', '3'])
        : random.pick<JsonValue>([{ a: 1 }, 'x', 1])
  }
}

function clamp(value: number, { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum }: Schema): number {
  let result = value
  if (typeof multipleOf === 'number') result = multipleOf * Math.ceil(value / multipleOf)
  if (typeof minimum === 'number' && (result < minimum || (exclusiveMinimum === true && result === minimum))) result = minimum + 1
  if (typeof maximum === 'number' && (result > maximum || (exclusiveMaximum === true && result === maximum))) result = maximum - 1
  return result
}

const formatted: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2024-01-01T00:00:00Z'],
  datetime: ['2024-01-01T00:00:00Z'],
  date: ['2024-02-29'],
  duration: ['1h30m', '2 days'],
  byte: ['YWJj'],
  ipv4: ['1.2.3.4'],
  ipv6: ['::1'],
  cidr: ['10.0.0.0/8'],
  mac: ['00:11:22:33:44:55'],
  uuid: ['0f8fad5b-d9cb-469f-a165-70867728950e'],
  uuid4: ['0f8fad5b-d9cb-469f-a165-70867728950e'],
  uuid3: ['bcd02e22-68f0-3046-a512-327cca9def8f'],
  uri: ['https://a.example/x'],
  email: ['a@b.example'],
  hostname: ['a.example.com'],
  isbn: ['0321751043'],
  isbn10: ['0321751043'],
  creditcard: ['4111111111111111'],
  ssn: ['111-11-1111'],
  hexcolor: ['#fff'],
  rgbcolor: ['rgb(1,2,3)'],
  bsonobjectid: ['507f1f77bcf86cd799439011'],
}

function stringValue({ format, pattern, maxLength }: Schema, random: RandomChoices): string {
  const known = typeof format === 'string' ? formatted[format] : undefined
  if (known !== undefined) return random.pick(known)
  const text = pattern === '^\\d{1,3}$' ? random.pick(['1', '12', '123']) : random.pick(['a', 'b', 'ab', 'abc', 'bb', 'a'])
  return typeof maxLength === 'number' ? text.slice(0, maxLength) : text
}

function listValue(schema: Schema, random: RandomChoices): JsonValue {
  const items = schema['items'] as Schema
  const count = Math.min(random.pick([1, 1, 2]), Number(schema['maxItems'] ?? 2))
  const values = Array.from({ length: count }, () => validValue(items, random))
  if (schema['x-kubernetes-list-type'] === 'set') return [...new Set(values)]
  if (schema['x-kubernetes-list-type'] !== 'map') return values
  return values.map((value, i) => ({ ...(value as Schema), name: 'abc'.charAt(i) }))
}

function objectValue(schema: Schema, random: RandomChoices): JsonValue {
  if (schema['x-kubernetes-embedded-resource'] === true)
    return { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, data: { a: 1 } }
  const value: Schema = {}
  if (schema['additionalProperties'] !== undefined)
    for (const key of ['a', 'b'].slice(0, 1 + random.below(2)))
      value[key] = validValue(schema['additionalProperties'] as Schema, random)
  const required = (schema['required'] ?? []) as string[]
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>))
    if (required.includes(name) || random.chance(60)) value[name] = validValue(property, random)
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) value['extra'] = random.pick<JsonValue>([{ a: [1] }, 'x'])
  return value
}
