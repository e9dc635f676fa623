import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'

/** The custom objects that random expressions are about: their types, their schema, and random values. */

type Schema = Record<string, JsonValue>

/** Members of `spec` of the objects, and of the elements of its list. */
export const specStructs = {
  self: {
    s: 'string',
    n: 'int',
    d: 'double',
    b: 'bool',
    t: 'timestamp',
    l: 'list(string)',
    o: 'list(inner)',
    m: 'map(string, string)',
  },
  inner: { a: 'string', xs: 'list(string)' },
} as const

export function schemaOf(rules: readonly JsonValue[], random: RandomChoices): Schema {
  const limit = (keyword: string): Schema => (random.chance(60) ? { [keyword]: random.pick([1, 5, 20, 64]) } : {})
  const text = (): Schema => ({ type: 'string', ...limit('maxLength') })
  const list = (items: Schema): Schema => ({ type: 'array', items, ...limit('maxItems') })
  const spec: Schema = {
    type: 'object',
    properties: {
      s: text(),
      n: { type: 'integer' },
      d: { type: 'number' },
      b: { type: 'boolean' },
      t: { type: 'string', format: 'date-time' },
      l: list(text()),
      o: list({ type: 'object', properties: { a: text(), xs: list(text()) } }),
      m: { type: 'object', additionalProperties: text(), ...limit('maxProperties') },
    },
    'x-kubernetes-validations': [...rules],
  }
  return { type: 'object', properties: { spec } }
}

/** A spec whose members are mostly present, so that expressions have values more often than errors. */
export function randomSpec(random: RandomChoices): Schema {
  const text = () => random.pick(['', 'a', 'a,b', 'UTC', '10.0.0.1', '1h', '1Gi', 'ÄÖü😀', '2024-02-29T12:34:56Z'])
  const texts = (): JsonValue[] => Array.from({ length: random.below(4) }, text)
  const all: Schema = {
    s: text(),
    n: random.pick([0, 1, -5, 1000, 9007199254740991]),
    d: random.pick([0.5, 2, -1.25, 1e300]),
    b: random.chance(50),
    t: random.pick(['2024-02-29T12:34:56Z', '1970-01-01T00:00:00.5Z']),
    l: texts(),
    o: Array.from({ length: random.below(3) }, () => ({ a: text(), xs: texts() })),
    m: random.pick<JsonValue>([{}, { a: 'x', b: '' }]),
  }
  return Object.fromEntries(Object.entries(all).filter(() => !random.chance(8)))
}
