import type { JsonObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { emptySet, FieldSet } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.direct.ts'
import { internFieldsV1 } from './fields-v1.ts'
import { formatFieldsV1, parseFieldsV1 } from './fields-v1-text.ts'

describe('FieldsV1 [P20]', () => {
  for (const vector of readOwnVectors<{ name: string; source: string; text: string; canonical?: string; error?: string }>(
    'fields-v1.json',
  )) {
    it(vector.name, () => {
      if (vector.error !== undefined)
        expect(() => parseFieldsV1(vector.text)).toThrow(expect.objectContaining({ code: vector.error }))
      else {
        expect(formatFieldsV1(parseFieldsV1(vector.text))).toBe(vector.canonical)
        expect(formatFieldsV1(parseFieldsV1(vector.canonical as string))).toBe(vector.canonical)
      }
    })
  }

  it('encodes the same set to the same object', () => {
    const set = FieldSet.of(['f:a', 'f:b'], ['f:a'])
    expect(encodeFieldsV1(set)).toBe(encodeFieldsV1(set))
    expect(decodeFieldsV1(encodeFieldsV1(set)).equals(set)).toBe(true)
    expect(Object.isFrozen(encodeFieldsV1(set))).toBe(true)
  })

  it('caches the sets of frozen objects, and keeps canonical ones as encoded form', () => {
    const fields = deepFreeze({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} }) as unknown as JsonObject
    const set = decodeFieldsV1(fields)
    expect(decodeFieldsV1(fields)).toBe(set)
    expect(encodeFieldsV1(set)).toBe(fields)
  })

  it('decodes mutable objects every time', () => {
    const fields: JsonObject = { 'f:a': {} }
    expect(decodeFieldsV1(fields).size).toBe(1)
    fields['f:b'] = {}
    expect(decodeFieldsV1(fields).size).toBe(2)
  })

  it('shares the encoded form of unchanged subtrees', () => {
    const set = FieldSet.of(['f:a', 'f:x'], ['f:b', 'f:y'], ['f:b', 'f:z'])
    const before = encodeFieldsV1(set)
    const after = encodeFieldsV1(set.difference(FieldSet.of(['f:b', 'f:y'])))
    expect(after['f:a']).toBe(before['f:a'])
    expect(after).toEqual({ 'f:a': { 'f:x': {} }, 'f:b': { 'f:z': {} } })
  })

  it('shares one encoded form between equal sets, encoded or decoded', () => {
    const made = encodeFieldsV1(FieldSet.of(['f:s', 'f:x'], ['f:s', 'k:{"a":1}'], ['f:s']))
    expect(encodeFieldsV1(FieldSet.of(['f:s'], ['f:s', 'k:{"a":1}'], ['f:s', 'f:x']))).toBe(made)
    expect(internFieldsV1({ 'f:s': { '.': {}, 'f:x': {}, 'k:{"a":1}': {} } })).toBe(made)
    const read = internFieldsV1({ 'f:t': { 'f:x': {} } })
    expect(Object.isFrozen(read['f:t'])).toBe(true)
    expect(encodeFieldsV1(decodeFieldsV1(read))).toBe(read)
    expect(encodeFieldsV1(FieldSet.of(['f:t', 'f:x']))).toBe(read)
    expect(internFieldsV1({ 'f:t': null })).not.toBe(read)
  })

  it('does not share large encoded forms', () => {
    const large = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f:${i}`, {}]))
    expect(internFieldsV1(large)).toBe(large)
    expect(internFieldsV1({ ...large })).not.toBe(large)
    expect(Object.isFrozen(large)).toBe(false)
  })

  it('limits the depth of decoded input', () => {
    const deep = `${'{"f:a":'.repeat(600)}{}${'}'.repeat(600)}`
    expect(() => parseFieldsV1(deep)).toThrow(expect.objectContaining({ code: 'TooLarge' }))
    let nested: JsonObject = {}
    for (let i = 0; i < 600; i++) nested = { 'f:a': nested }
    expect(() => decodeFieldsV1(nested)).toThrow(expect.objectContaining({ code: 'TooLarge' }))
    const key = `k:${'['.repeat(300)}${']'.repeat(300)}`
    expect(() => decodeFieldsV1({ [key]: {} })).toThrow(expect.objectContaining({ code: 'TooLarge' }))
  })

  it('decodes absent and null input as the empty set', () => {
    expect(decodeFieldsV1(undefined)).toBe(emptySet)
    expect(decodeFieldsV1(null)).toBe(emptySet)
  })
})
