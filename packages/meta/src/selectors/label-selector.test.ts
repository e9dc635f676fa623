import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../testdata/label-selectors.json' with { type: 'json' }
import { MetaError } from '../meta-error.ts'
import { formatFieldError } from '../validation/field-error.ts'
import { Path } from '../validation/path.ts'
import { compareInt64, splitInt64 } from './int64-text.ts'
import type { Labels } from './label-requirement.ts'
import { validateLabelSelector } from './label-selector.direct.ts'
import { everythingSelector, labelSelectorFromLabels, labelSelectorFromObject, nothingSelector } from './label-selector.ts'
import { parseLabelSelector } from './label-selector-parser.ts'

const key = fc.stringMatching(/^([a-z]{1,3}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?$/)
const value = fc.stringMatching(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?)?$/)
const values = fc.array(value, { minLength: 1, maxLength: 4 })
const requirement = fc.oneof(
  key,
  key.map((name) => `!${name}`),
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
  fc.tuple(key, fc.constantFrom('>', '<'), fc.integer({ min: 0 })).map((parts) => parts.join('')),
  fc
    .tuple(key, fc.constantFrom('in', 'notin'), values)
    .map(([name, operator, list]) => `${name} ${operator} (${[...new Set(list)].sort().join(',')})`),
)
const selector = fc.array(requirement, { maxLength: 5 }).map((parts) => parts.join(','))

describe('parseLabelSelector', () => {
  it('parses, formats and matches the vectors [P158]', () => {
    for (const { text, printed, matches, misses } of vectors.valid) {
      const parsed = parseLabelSelector(text)
      expect({ text, printed: String(parsed) }).toEqual({ text, printed })
      expect(String(parseLabelSelector(printed))).toBe(printed)
      for (const labels of matches as Labels[])
        expect({ text, labels, matches: parsed.matches(labels) }).toEqual({ text, labels, matches: true })
      for (const labels of misses as Labels[])
        expect({ text, labels, matches: parsed.matches(labels) }).toEqual({ text, labels, matches: false })
    }
  })

  it('rejects with the message of kube-apiserver [P158]', () => {
    for (const { text, message } of vectors.invalid)
      expect(() => parseLabelSelector(text), text).toThrow(new MetaError({ code: 'InvalidLabelSelector', message, text }))
  })

  it('rejects invalid label keys and values', () => {
    expect(() => parseLabelSelector('-a=b')).toThrow(
      /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of/,
    )
    expect(() => parseLabelSelector('a=-b')).toThrow(
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b": a valid label must be/,
    )
    expect(() => parseLabelSelector('a in (b,c d)')).toThrow("unable to parse requirement: found 'd', expected: ',' or ')'")
    expect(() => parseLabelSelector('a in (-b,-c)')).toThrow(/requirement: \[values\[0\]\[a\]: .*, values\[1\]\[a\]: .*\]$/)
  })

  it('ends at NUL', () => {
    expect(String(parseLabelSelector('a=b\0c=d'))).toBe('a=b')
  })

  it('formats text that parses to the same selector', () => {
    fc.assert(
      fc.property(selector, fc.array(fc.dictionary(key, value), { maxLength: 5 }), (text, objects) => {
        const parsed = parseLabelSelector(text)
        const again = parseLabelSelector(String(parsed))
        expect(String(again)).toBe(String(parsed))
        for (const labels of objects) expect(again.matches(labels)).toBe(parsed.matches(labels))
      }),
    )
  })

  it('matches when each of its terms matches', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), fc.dictionary(key, value), (parts, labels) => {
        const all = parts.every((part) => parseLabelSelector(part).matches(labels))
        expect(parseLabelSelector(parts.join(',')).matches(labels)).toBe(all)
      }),
    )
  })

  it('throws only MetaError for any text', () => {
    const hostile = fc.array(fc.constantFrom('a', 'in', 'notin', '=', '!', '<', '>', '(', ')', ',', ' ', '\0', '-'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          hostile.map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            parseLabelSelector(text)
          } catch (error) {
            expect(error).toBeInstanceOf(MetaError)
          }
        },
      ),
    )
  })

  it('ignores inherited members of labels', () => {
    const labels = JSON.parse('{"__proto__":"x"}') as Record<string, string>
    expect(Object.keys(labels)).toEqual(['__proto__'])
    for (const name of ['constructor', 'hasOwnProperty', 'toString']) expect(parseLabelSelector(name).matches(labels)).toBe(false)
    expect(labelSelectorFromLabels({ toString: 'x' } as unknown as Record<string, string>).matches({})).toBe(false)
    expect(parseLabelSelector('a').matches(null)).toBe(false)
    expect(parseLabelSelector('!a').matches(undefined)).toBe(true)
  })

  it('returns the value that a label must have', () => {
    const parsed = parseLabelSelector('a=1,b in (2),c in (3,4),d!=5,e==6')
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => parsed.exactMatch(name))).toEqual([
      '1',
      '2',
      undefined,
      undefined,
      '6',
      undefined,
    ])
  })
})

describe('label selectors of objects', () => {
  it('match nothing when absent and everything when empty', () => {
    expect(labelSelectorFromObject(undefined)).toBe(nothingSelector)
    expect(labelSelectorFromObject(null).matches({})).toBe(false)
    expect(labelSelectorFromObject({})).toBe(everythingSelector)
    expect(labelSelectorFromObject({ matchLabels: {}, matchExpressions: [] }).matches({ a: 'b' })).toBe(true)
    expect([everythingSelector.empty, nothingSelector.empty, String(nothingSelector)]).toEqual([true, false, ''])
    expect(labelSelectorFromLabels({}).empty).toBe(true)
  })

  it('combine matchLabels and matchExpressions', () => {
    const parsed = labelSelectorFromObject({
      matchLabels: { b: '1', a: '' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['y', 'x', 'y'] },
        { key: 'd', operator: 'NotIn', values: ['z'] },
        { key: 'e', operator: 'Exists' },
        { key: 'f', operator: 'DoesNotExist', values: [] },
      ],
    })
    expect(String(parsed)).toBe('a=,b=1,c in (x,y),d notin (z),e,!f')
    expect(parsed.matches({ a: '', b: '1', c: 'x', e: '' })).toBe(true)
    expect(parsed.matches({ a: '', b: '1', c: 'x', e: '', f: '' })).toBe(false)
  })

  it('reject unknown operators and invalid values', () => {
    const of = (operator: string, values?: string[]) => () =>
      labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator, ...(values && { values }) }] })
    expect(of('Gt', ['1'])).toThrow('"Gt" is not a valid label selector operator')
    expect(of('constructor')).toThrow('"constructor" is not a valid label selector operator')
    expect(of('In')).toThrow("values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty")
    expect(of('Exists', ['x'])).toThrow(
      'values: Invalid value: []string{"x"}: values set must be empty for exists and does not exist',
    )
  })

  it('list errors in the order of kube-apiserver', () => {
    const errors = validateLabelSelector(
      {
        matchLabels: { 'x y': '-' },
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['v'] },
          { key: '', operator: 'Near', values: ['-'] },
        ],
      },
      Path.of('spec', 'selector'),
    )
    const texts = [
      'spec.selector.matchLabels: Invalid value: "x y": name part must consist of',
      'spec.selector.matchLabels: Invalid value: "-": a valid label must be',
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector.matchExpressions[2].operator: Invalid value: "Near": not a valid selector operator',
      'spec.selector.matchExpressions[2].key: Invalid value: "": name part must be non-empty',
      'spec.selector.matchExpressions[2].key: Invalid value: "": name part must consist of',
      'spec.selector.matchExpressions[2].values[0]: Invalid value: "-": a valid label must be',
    ]
    expect(errors.map((error, i) => formatFieldError(error).slice(0, texts[i]?.length))).toEqual(texts)
    expect(validateLabelSelector(undefined, Path.of('x'))).toEqual([])
    const loose = { matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] }
    expect(validateLabelSelector(loose, Path.of('x'), { allowInvalidValues: true })).toEqual([])
  })
})

describe('integers as text', () => {
  it('compare like bigint', () => {
    const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
    fc.assert(
      fc.property(int64, int64, (a, b) => {
        const bound = splitInt64(String(b))
        expect(Math.sign(compareInt64(String(a), bound as never))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })

  it('reject malformed and out-of-range text', () => {
    for (const text of ['', '-', '+', 'x', '1x', '1.5', ' 1', '9223372036854775808', '-9223372036854775809', '1'.repeat(20)]) {
      expect(splitInt64(text)).toBeUndefined()
      expect(compareInt64(text, { sign: 1, high: 0, low: 0 })).toBeNaN()
    }
    expect(splitInt64(`${'0'.repeat(100)}7`)).toEqual({ sign: 1, high: 0, low: 7 })
    expect(splitInt64('-9223372036854775808')).toEqual({ sign: -1, high: 9223372036, low: 854775808 })
  })
})
