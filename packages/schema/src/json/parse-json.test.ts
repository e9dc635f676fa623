import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DecodeError } from '../schema-error.ts'
import { duplicateProblems } from './duplicates.direct.ts'
import { parseJson } from './parse-json.direct.ts'
import { NumberLiteral } from './syntax.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function failure(input: Uint8Array | string, options?: { maxDepth?: number }): string {
  try {
    parseJson(input, options)
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
  return 'no error'
}

/** Converts big integers to floats, as the engine's parser reads them. */
function floats(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member)))
}

describe('parseJson', () => {
  const syntaxErrors: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['   ', 'unexpected end of JSON input'],
    ['hello', "invalid character 'h' looking for beginning of value"],
    ['{"apiVersion":"v1","metadata":{"name":"a"', 'unexpected end of JSON input'],
    ['{"a":1}{"b":2}', "invalid character '{' after top-level value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a":"b",}', "invalid character '}' looking for beginning of object key string"],
    ['{"a":0644}', "invalid character '6' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12G4"', "invalid character 'G' in \\u hexadecimal character escape"],
    ['"abc', 'unexpected end of JSON input'],
    ['"abc\\', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['-a', "invalid character 'a' in numeric literal"],
    ['1.', 'unexpected end of JSON input'],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['1e+"', `invalid character '"' in exponent of numeric literal`],
    ['nul', 'unexpected end of JSON input'],
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['01', "invalid character '1' after top-level value"],
    ['\u0000', "invalid character '\\x00' looking for beginning of value"],
    ['{,}', "invalid character ',' looking for beginning of object key string"],
    ['}', "invalid character '}' looking for beginning of value"],
  ]
  it.each(syntaxErrors)("reports Go's message for %j [P210]", (text, message) => {
    expect(failure(text)).toBe(message)
    expect(failure(bytes(text))).toBe(message)
  })

  it('limits the depth and does not overflow below the limit', () => {
    expect(failure(`${'['.repeat(10_001)}${']'.repeat(10_001)}`)).toBe("invalid character '[' exceeded max depth")
    expect(failure(`${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`)).toBe("invalid character '{' exceeded max depth")
    expect(failure(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)).toBe('no error')
    expect(failure(`${'['.repeat(2_000_000)}`)).toBe("invalid character '[' exceeded max depth")
    expect(failure('[[[1]]]', { maxDepth: 2 })).toBe("invalid character '[' exceeded max depth")
  })

  it('replaces every invalid byte, as Go does [S4]', () => {
    const body = Uint8Array.from([0x22, 0x78, 0xff, 0xfe, 0xe2, 0x82, 0x79, 0x22])
    expect(parseJson(body).value).toBe('x\ufffd\ufffd\ufffd\ufffdy')
    expect(parseJson('"\\ud800x \\ud83d\\ude00 \\udc00\\ud800\\\\ud800"').value).toBe('\ufffdx \u{1f600} \ufffd\ufffd\\ud800')
    expect(parseJson(Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x98, 0x80, 0x22])).value).toBe(
      '\ufffd\ufffd\ufffd\u{1f600}',
    )
  })

  it('keeps 64-bit integers and reads larger ones as floats', () => {
    const { value } = parseJson(
      '[9007199254740993,-9223372036854775808,9223372036854775807,9223372036854775808,12345678901234567000000,1,-0]',
    )
    expect(value).toEqual([9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n, 2 ** 63, Number('12345678901234567000000'), 1, 0])
    expect(failure('[1e999]')).toBe('json: cannot unmarshal number 1e999 into Go value of type float64')
    expect(parseJson('[1.0, 1e3, 0.5]').value).toEqual([1, 1000, 0.5])
    expect(parseJson('[1.0, 0.5]', { literals: true }).value).toEqual([new NumberLiteral('1.0'), 0.5])
  })

  it('treats __proto__ as an ordinary key', () => {
    for (const text of [
      '{"__proto__":{"a":1}}',
      '{"__proto__":{"a":1},"b":9007199254740993}',
      '{"__proto__":1,"__proto__":{"a":1}}',
    ]) {
      const { value } = parseJson(text)
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ a: 1 })
    }
    expect(({} as { a?: number }).a).toBeUndefined()
  })

  it('keeps the last of duplicate keys and lists the duplicates with their paths [P203]', () => {
    const parsed = parseJson(
      '{"metadata":{"name":"a","labels":{"a":"1","a":"2","a":"3"},"name":"b"},"l":[{"x":1},{"y":1,"y":2}],"q\\"":1,"q\\"":2}',
    )
    expect(parsed.value).toEqual({ metadata: { name: 'b', labels: { a: '3' } }, l: [{ x: 1 }, { y: 2 }], 'q"': 2 })
    expect(duplicateProblems(parsed)).toEqual([
      'duplicate field "metadata.labels.a"',
      'duplicate field "metadata.name"',
      'duplicate field "l[1].y"',
      'duplicate field "q\\""',
    ])
    expect(duplicateProblems(parseJson('{"a":{"b":1}}'))).toEqual([])
  })

  it('agrees with the engine on every JSON value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const expected = floats(JSON.parse(text))
        expect(floats(parseJson(text).value)).toEqual(expected)
        expect(floats((parseJson(`[9007199254740993,${text}]`).value as unknown[])[1])).toEqual(expected)
      }),
    )
  })

  it('rejects exactly what the engine rejects', () => {
    const alphabet = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'a',
      '1',
      '0',
      '-',
      '.',
      'e',
      'null',
      'true',
      ' ',
      '\n',
      '\u0001',
    )
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        let fine = true
        try {
          JSON.parse(text)
        } catch {
          fine = false
        }
        expect(failure(text) === 'no error').toBe(fine)
      }),
      { numRuns: 3000 },
    )
  })
})
