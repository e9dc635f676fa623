import { rememberMemberNames } from '@krmkit/base/work'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../testdata/yaml-print.json' with { type: 'json' }
import { compareNaturally } from './natural-order.ts'
import { parseYaml } from './parse-yaml.ts'
import { printYaml } from './print-yaml.ts'

describe('printYaml', () => {
  it.each(vectors)('prints $json', ({ json, yaml }) => {
    expect(printYaml(JSON.parse(json))).toBe(yaml)
  })

  it('folds long lines', () => {
    const words = (count: number) => Array(count).fill('word').join(' ')
    expect(printYaml({ description: words(30) })).toBe(`description: ${words(14)}\n  ${words(16)}\n`)
    expect(printYaml([{ a: `x: ${words(20)} end` }])).toBe(`- a: 'x: ${words(15)}\n    ${words(5)} end'\n`)
    expect(printYaml({ a: `${words(16)}  \ttwo` })).toBe(`a: "${words(16)}\n  \\ \\ttwo"\n`)
    expect(printYaml({ [words(20)]: 1 })).toBe(`${words(20)}: 1\n`)
    expect(printYaml({ [words(26)]: { a: 1 } })).toBe(`? ${words(16)}\n  ${words(10)}\n: a: 1\n`)
  })

  it('does not enumerate wide objects whose keys are cached', () => {
    const names = Array.from({ length: 12_000 }, (_, i) => `k${i}`)
    let enumerations = 0
    const target = Object.fromEntries(names.map((name) => [name, 1]))
    const wide = new Proxy(target, {
      ownKeys(of) {
        enumerations++
        return Reflect.ownKeys(of)
      },
    })
    rememberMemberNames(wide, names)
    enumerations = 0
    expect(printYaml({ wide }).split('\n')).toHaveLength(names.length + 2)
    expect(enumerations).toBe(0)
  })

  it('prints numbers', () => {
    expect(printYaml([1, -1, 0.5, 1e21, 1234567.5, 0.00001, 2 ** 63, 2n ** 63n - 1n, 1e300])).toBe(
      '- 1\n- -1\n- 0.5\n- 1e+21\n- 1.2345675e+06\n- 1e-05\n- 9223372036854776000\n- 9223372036854775807\n- 1e+300\n',
    )
  })

  it('omits undefined members', () => {
    expect(printYaml({ a: undefined, b: { c: undefined }, d: [undefined] })).toBe('b: {}\nd:\n- null\n')
  })

  it('prints text that parses to the same value', () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .array(
          fc.constantFrom(
            'a',
            ' ',
            '\n',
            '\t',
            ':',
            '#',
            '-',
            "'",
            '"',
            '\\',
            'é',
            '\u{1f600}',
            '{',
            ',',
            '\r',
            '\u0000',
            'yes',
            '1',
            '~',
          ),
          { maxLength: 12 },
        )
        .map((parts) => parts.join('')),
      fc
        .array(fc.constantFrom('word', 'longer-word', ' ', 'x:'), { minLength: 20, maxLength: 60 })
        .map((parts) => parts.join(' ')),
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(text, tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(value, (input) => {
        expect(parseYaml(printYaml({ input })).value).toEqual(JSON.parse(JSON.stringify({ input })))
      }),
      { numRuns: 1500 },
    )
  })
})

describe('key order', () => {
  it('compares digits as numbers and sorts punctuation before letters', () => {
    const sorted = [
      '',
      '-',
      '.a',
      '1',
      '2',
      '10',
      '01',
      'A',
      'B',
      'a',
      'a-b',
      'a1',
      'a2',
      'a10',
      'a10b',
      'aB',
      'ab',
      'b',
      'x9y',
      'x10y',
    ]
    expect(sorted.toReversed().toSorted(compareNaturally)).toEqual([
      '',
      '-',
      '.a',
      '1',
      '01',
      '2',
      '10',
      'A',
      'B',
      'a',
      'a-b',
      'a1',
      'a2',
      'a10',
      'a10b',
      'aB',
      'ab',
      'b',
      'x9y',
      'x10y',
    ])
  })
})
