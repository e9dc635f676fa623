import { runAtOnce } from '@krmkit/base/work'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson, stringifyJson } from './encode-json.direct.ts'
import { stringifyJson as pacedStringify } from './encode-json.ts'
import { parseJson } from './parse-json.direct.ts'
import { sortedCopy } from './sorted-copy.ts'

const text = (value: unknown, newline = false) => new TextDecoder().decode(encodeJson(value, { newline }))

describe('encodeJson', () => {
  it('escapes the characters that Go escapes', () => {
    expect(text({ 'a<b>&': '\u2028\u2029"\\\b\f\n\u0001\u007fé' }, true)).toBe(
      '{"a\\u003cb\\u003e\\u0026":"\\u2028\\u2029\\"\\\\\\b\\f\\n\\u0001\u007fé"}\n',
    )
  })

  it.each(['', 'a', 'é', 'aéé', '\u4e2d\u6587', 'a\ud83d\ude00', '\ud83d'])('ends %j with a newline', (value) => {
    const bytes = encodeJson(value, { newline: true })
    expect(bytes).toEqual(new TextEncoder().encode(`${JSON.stringify(value)}\n`))
    expect(bytes.buffer.byteLength).toBe(bytes.byteLength)
  })

  it('prints 64-bit integers', () => {
    expect(text({ a: 2n ** 63n - 1n, b: [1, -(2n ** 63n)], c: undefined, d: null, e: '<' })).toBe(
      '{"a":9223372036854775807,"b":[1,-9223372036854775808],"d":null,"e":"\\u003c"}',
    )
  })

  it('sorts index-like keys by bytes', () => {
    expect(text({ data: { a: '', 9: '', 10: '', '-': '' }, text: '{"1":' })).toBe(
      '{"data":{"-":"","10":"","9":"","a":""},"text":"{\\"1\\":"}',
    )
  })

  it('ignores index-like keys of undefined members', () => {
    const value = { object: { 10: undefined, b: 1, a: 2 }, list: [{ 9: 1 }] }
    const expected = '{"object":{"b":1,"a":2},"list":[{"9":1}]}'
    expect(stringifyJson(value)).toBe(expected)
    expect(runAtOnce(pacedStringify(value))).toBe(expected)
  })

  it('gives the same text in its pausable form', () => {
    const special = fc.constantFrom('<&>', '\u2028\u2029', '10', '9', '__proto__', '\ud83d\ude00')
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        special,
        fc.jsonValue(),
        fc.constant(2n ** 60n),
        fc.constant(undefined),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value')),
      object: fc.dictionary(special, tie('value')),
    })).value
    fc.assert(
      fc.property(values, (value) => {
        const whole = { list: [value], wide: Array(300).fill(0), value }
        expect(runAtOnce(pacedStringify(whole))).toBe(stringifyJson(whole))
      }),
    )
  })

  it('sorts keys at every level', () => {
    expect(JSON.stringify(sortedCopy({ b: { d: 1, c: [{ f: 1, e: 2 }] }, a: null }))).toBe(
      '{"a":null,"b":{"c":[{"e":2,"f":1}],"d":1}}',
    )
  })

  it('round-trips through parseJson', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value, integer) => {
        expect(JSON.parse(stringifyJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
        const [read] = parseJson(stringifyJson([integer, value])).value as unknown[]
        expect(BigInt(read as bigint)).toBe(integer)
      }),
    )
  })
})
