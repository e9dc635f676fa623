import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MetaError } from '../meta-error.ts'
import { parseFieldSelector, type SelectableFields } from './field-selector.ts'
import type { Labels } from './label-requirement.ts'
import { labelSelectorFromObject } from './label-selector.ts'
import { parseLabelSelector } from './label-selector-parser.ts'
import { maxSelectorTerms } from './selector-limits.ts'

const few = { minLength: 1, maxLength: 3 }
const key = fc.constantFrom('a', 'b', 'c', 'toString', 'constructor')
const value = fc.constantFrom('', '1', '2', '3', '10', 'x')
const term = fc.oneof(
  key,
  key.map((name) => `!${name}`),
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
  fc.tuple(key, fc.constantFrom('>', '<'), fc.integer({ min: 0, max: 12 })).map((parts) => parts.join('')),
  fc
    .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, few))
    .map(([name, how, list]) => `${name} ${how} (${[...new Set(list)].sort().join(',') || ','})`),
)
const optional = fc.oneof(
  key.map((name) => `!${name}`),
  fc.tuple(key, fc.constant('!='), value).map((parts) => parts.join('')),
)
const labels = fc.dictionary(key, value, { maxKeys: 4 })
const many = (of: fc.Arbitrary<string>) => fc.array(of, { minLength: 9, maxLength: 24 })

/** CPU time of `work` in microseconds: the minimum of several runs, to exclude interference. */
function cost(work: () => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 7; run++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

const terms = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i)).join(',')

describe('selectors with many terms', () => {
  it('match labels when each of their terms matches', () => {
    for (const of of [term, optional]) {
      fc.assert(
        fc.property(many(of), fc.array(labels, few), (parts, objects) => {
          const selector = parseLabelSelector(parts.join(','))
          for (const each of objects) {
            const all = parts.every((part) => parseLabelSelector(part).matches(each))
            expect(selector.matches(each)).toBe(all)
          }
        }),
        { numRuns: 300 },
      )
    }
  })

  it('match fields when each of their terms matches', () => {
    const field = fc.constantFrom('metadata.name', 'spec.a', 'toString')
    const part = fc.tuple(field, fc.constantFrom('=', '!='), fc.constantFrom('', 'x', 'y')).map((parts) => parts.join(''))
    const fields = fc.dictionary(field, fc.constantFrom('', 'x', 'y'))
    fc.assert(
      fc.property(many(part), fields, (parts, each) => {
        const all = parts.every((one) => parseFieldSelector(one).matches(each as SelectableFields))
        expect(parseFieldSelector(parts.join(',')).matches(each as SelectableFields)).toBe(all)
      }),
    )
  })

  it('match nothing when contradictory', () => {
    const padding = terms(10, (i) => `p${i}!=x`)
    for (const text of ['a,!a', 'a=1,a=2', 'a in (1,2),a notin (1,2)', 'a=1,a>1', 'a in (1,2),a<0']) {
      for (const each of [{}, { a: '1' }, { a: '2' }] as Labels[])
        expect(parseLabelSelector(`${text},${padding}`).matches(each)).toBe(false)
    }
    expect(labelSelectorFromObject({ matchExpressions: [] }).matches(null)).toBe(true)
    expect(parseLabelSelector(padding).matches(undefined)).toBe(true)
  })

  it.each([
    ['excluded values of one key', (i: number) => `app!=v${i}`],
    ['excluded values of as many keys', (i: number) => `k${i}!=v`],
    ['absent keys', (i: number) => `!k${i}`],
    ['one term repeated', () => 'app=web'],
  ])('match in time independent of the number of %s', (_, make) => {
    const objects: Labels[] = Array.from({ length: 2000 }, (_, i) => ({ app: 'web', tier: `t${i % 7}` }))
    const judging = (count: number): number => {
      const selector = parseLabelSelector(terms(count, make))
      selector.matches({})
      return cost(() => {
        for (const object of objects) selector.matches(object)
      })
    }
    const [short, long] = [judging(20), judging(5000)]
    expect(long).toBeLessThan(20 * short + 5000)
  })

  it('match in time independent of the number of values of a term', () => {
    const objects: Labels[] = Array.from({ length: 2000 }, (_, i) => ({ app: `v${i}` }))
    const judging = (count: number): number => {
      const selector = parseLabelSelector(`app notin (${terms(count, (i) => `w${i}`)})`)
      selector.matches({ app: 'x' })
      return cost(() => {
        for (const object of objects) selector.matches(object)
      })
    }
    expect(judging(9000)).toBeLessThan(20 * judging(20) + 5000)
  })
})

describe('selector limits', () => {
  const refusal = (parse: (text: string) => unknown, text: string): MetaError => {
    try {
      parse(text)
    } catch (error) {
      if (error instanceof MetaError) return error
    }
    throw new Error('not refused')
  }

  it('limit terms and values, and report the limit', () => {
    const half = maxSelectorTerms / 2
    expect(parseLabelSelector(terms(half, (i) => `a!=v${i}`)).requirements).toHaveLength(half)
    expect(parseLabelSelector(terms(maxSelectorTerms, (i) => `k${i}`)).requirements).toHaveLength(maxSelectorTerms)
    expect(parseFieldSelector(terms(half, (i) => `a!=v${i}`)).requirements).toHaveLength(half)
    const tooMany = (parameter: string) => `${parameter}: Too many: must have at most ${maxSelectorTerms} terms and values`
    for (const text of [
      terms(half + 1, (i) => `a!=v${i}`),
      terms(maxSelectorTerms + 1, () => 'a'),
      `a in (${terms(maxSelectorTerms, (i) => `v${i}`)})`,
      `a in (${','.repeat(maxSelectorTerms * 2)})`,
    ])
      expect(refusal(parseLabelSelector, text).message).toBe(tooMany('labelSelector'))
    expect(
      refusal(
        parseFieldSelector,
        terms(half + 1, (i) => `a!=v${i}`),
      ).message,
    ).toBe(tooMany('fieldSelector'))
  })

  it('limit the length of messages', () => {
    const long = 'x'.repeat(1_000_000)
    for (const text of [`a b${long}`, `a in (${terms(9000, () => '-')})`, `a in b${long}`, `a=b=${long}`])
      expect(refusal(parseLabelSelector, text).message.length).toBeLessThan(64 * 1024)
    expect(refusal(parseFieldSelector, long).message.length).toBeLessThan(64 * 1024)
  })
})
