import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../testdata/field-selectors.json' with { type: 'json' }
import { MetaError } from '../meta-error.ts'
import { escapeFieldValue, parseFieldSelector, type SelectableFields } from './field-selector.ts'

describe('parseFieldSelector', () => {
  it('parses, formats and matches the vectors [P157]', () => {
    for (const { text, printed, matches, misses } of vectors.valid) {
      const parsed = parseFieldSelector(text)
      expect({ text, printed: String(parsed) }).toEqual({ text, printed })
      for (const fields of matches as SelectableFields[])
        expect({ text, fields, matches: parsed.matches(fields) }).toEqual({ text, fields, matches: true })
      for (const fields of misses as SelectableFields[])
        expect({ text, fields, matches: parsed.matches(fields) }).toEqual({ text, fields, matches: false })
    }
  })

  it('rejects with the message of kube-apiserver [P157]', () => {
    for (const { text, message } of vectors.invalid)
      expect(() => parseFieldSelector(text), text).toThrow(new MetaError({ code: 'InvalidFieldSelector', message, text }))
  })

  it('returns the value that a field must have', () => {
    const parsed = parseFieldSelector('metadata.name=a,spec.nodeName!=b')
    expect([parsed.exactMatch('metadata.name'), parsed.exactMatch('spec.nodeName'), parsed.empty]).toEqual([
      'a',
      undefined,
      false,
    ])
    expect(parseFieldSelector('').empty).toBe(true)
  })

  it('preserves every value through escaping', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const parsed = parseFieldSelector(`a=${escapeFieldValue(value)}`)
        expect(parsed.requirements).toEqual([{ field: 'a', operator: '=', value }])
        expect(String(parseFieldSelector(String(parsed)))).toBe(String(parsed))
        expect(parsed.matches({ a: value })).toBe(true)
      }),
    )
  })
})
