import type { JsonObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { isUnchanged } from './ratcheting.ts'
import { createSchemaValidator } from './validate.ts'

const keyed = (items: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
  items: { type: 'object', properties: { k: { type: 'string' }, ...items } },
  ...rest,
})
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...rest })

describe('isUnchanged', () => {
  const schema = object({
    plain: { type: 'array', items: { type: 'integer' } },
    keyed: keyed({ n: { type: 'integer' } }),
    texts: { type: 'object', additionalProperties: { type: 'string' } },
  })
  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['the same members', { texts: { a: 'x' } }, { texts: { a: 'x' } }, true],
    ['another value', { texts: { a: 'x' } }, { texts: { a: 'y' } }, false],
    ['an additional member', { texts: { a: 'x' } }, { texts: {} }, false],
    ['plain lists in another order', { plain: [1, 2] }, { plain: [2, 1] }, false],
    ['keyed lists in another order', { keyed: [{ k: 'a' }, { k: 'b', n: 1 }] }, { keyed: [{ k: 'b', n: 1 }, { k: 'a' }] }, true],
    ['keyed lists with another item', { keyed: [{ k: 'a' }] }, { keyed: [{ k: 'b' }] }, false],
    ['null and absent', { texts: null }, {}, false],
    ['unchanged null', { texts: null }, { texts: null }, true],
    ['members that the schema does not describe', { other: 1 }, { other: 1 }, false],
    ['other types', { plain: [1] }, { plain: { 0: 1 } }, false],
  ])('compares by schema: %s', (_, value, old, same) => {
    expect(isUnchanged(value, old, schema)).toBe(same)
  })
})

describe('an update', () => {
  const errorsOf = (schema: JsonObject, value: JsonValue, old: JsonValue) =>
    createSchemaValidator(schema)(value, { old }).map(({ field }) => field)

  it('accepts an invalid keyed list whose items are reordered', () => {
    const schema = object({ l: keyed({}, { maxItems: 1 }) })
    expect(errorsOf(schema, { l: [{ k: 'b' }, { k: 'a' }] }, { l: [{ k: 'a' }, { k: 'b' }] })).toEqual([])
    expect(errorsOf(schema, { l: [{ k: 'b' }, { k: 'c' }] }, { l: [{ k: 'a' }, { k: 'b' }] })).toEqual(['l'])
  })

  it('always validates apiVersion and kind of the object', () => {
    const schema = object({
      apiVersion: { type: 'string', pattern: '^x$' },
      inner: object({ kind: { type: 'string', maxLength: 1 } }),
    })
    const value = { apiVersion: 'y', inner: { kind: 'zz' }, metadata: {} }
    expect(errorsOf(schema, value, { ...value })).toEqual(['apiVersion'])
  })

  it('validates required fields unless the schema describes every member', () => {
    const schema = object({ a: { type: 'string' } }, { required: ['b'] })
    expect(errorsOf(schema, { a: 'x', metadata: {} }, { a: 'x', metadata: {} })).toEqual(['b'])
    expect(errorsOf(schema, { a: 'x' }, { a: 'x' })).toEqual([])
  })

  it('accepts unchanged members of alternatives, but not an unchanged invalid value itself', () => {
    const schema = object({ a: { type: 'integer' }, b: { type: 'string' } }, { allOf: [{ properties: { a: { maximum: 1 } } }] })
    expect(errorsOf(schema, { a: 5, b: 'new' }, { a: 5, b: 'old' })).toEqual([])
    expect(errorsOf(schema, { a: 6, b: 'new' }, { a: 5, b: 'old' })).toContain('a')
  })
})
