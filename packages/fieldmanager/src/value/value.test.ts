import type { JsonValue } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalValues } from './equal.direct.ts'
import { canonicalJson, parseJsonText, quoteHtmlSafeJson, quoteJson } from './json.ts'
import { compareValues } from './order.ts'

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
const run = { seed: 20250102, numRuns: 500 }

describe('JSON values', () => {
  it('have a total order', () => {
    fc.assert(
      fc.property(json, json, json, (a, b, c) => {
        expect(Math.sign(compareValues(a, b))).toBe(0 - Math.sign(compareValues(b, a)) + 0)
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0)
        expect(compareValues(a, b) === 0).toBe(equalValues(a, b))
      }),
      run,
    )
  })

  it('survive encoding and parsing', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(equalValues(parseJsonText(canonicalJson(value)), value)).toBe(true)
      }),
      run,
    )
  })

  it('compare integers by value, whether number or bigint', () => {
    expect(equalValues(1, 1n)).toBe(true)
    expect(equalValues({ a: [1n] }, { a: [1] })).toBe(true)
    expect(equalValues(2n ** 60n, 2n ** 60n + 1n)).toBe(false)
    expect(equalValues(1n, '1')).toBe(false)
    expect(equalValues(2n ** 63n - 1n, 2 ** 63)).toBe(true)
    expect(equalValues(2n ** 62n, 2 ** 63)).toBe(false)
    expect(equalValues(2n ** 60n, 2n ** 60n)).toBe(true)
    expect(compareValues(1n, 2)).toBeLessThan(0)
  })

  it('ignore inherited members', () => {
    expect(equalValues({ toString: 1 }, {})).toBe(false)
    expect(equalValues({}, { constructor: 1 })).toBe(false)
    expect(equalValues(JSON.parse('{"__proto__":1}'), {})).toBe(false)
    expect(equalValues(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'))).toBe(true)
  })

  it('order strings by code point', () => {
    expect(compareCodePoints('\u{1f600}', '\uff5e')).toBeGreaterThan(0)
    expect(compareCodePoints('\u{1f600}', '\u{1f601}')).toBeLessThan(0)
    expect(compareCodePoints('a', 'ab')).toBeLessThan(0)
  })

  it('quote strings as kube-apiserver does', () => {
    expect(quoteHtmlSafeJson('a<b>&"c"\n\u2028\u0001')).toBe('"a\\u003cb\\u003e\\u0026\\"c\\"\\n\\u2028\\u0001"')
    expect(quoteJson('a<b>')).toBe('"a<b>"')
    expect(quoteHtmlSafeJson('\b\f')).toBe('"\\u0008\\u000c"')
    expect(quoteHtmlSafeJson('\\b')).toBe('"\\\\b"')
  })

  it('format numbers as Go does', () => {
    expect(canonicalJson(1e21)).toBe('1e+21')
    expect(canonicalJson(1e-7)).toBe('1e-07')
    expect(canonicalJson(1.5e-10)).toBe('1.5e-10')
    expect(canonicalJson(1.5)).toBe('1.5')
    expect(canonicalJson(2n ** 62n)).toBe('4611686018427387904')
  })

  it('reject deeply nested text', () => {
    expect(() => parseJsonText('['.repeat(100_000))).toThrow(expect.objectContaining({ code: 'TooLarge' }))
  })
})
