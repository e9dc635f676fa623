import { runAtOnce } from '@krmkit/base/work'
import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { canonicalText, sameCanonically, withSortedMembers } from './canonical-text.direct.ts'
import * as paced from './canonical-text.ts'
import { shortHash } from './short-hash.ts'

describe('the canonical text', () => {
  it('does not depend on the order of members', () => {
    expect(canonicalText({ b: 1, a: [{ d: 'x', c: true }] })).toBe('{"a":[{"c":true,"d":"x"}],"b":1}')
  })

  it('omits null and empty members, and keeps the items of lists', () => {
    expect(canonicalText({ a: {}, b: [], c: null, d: undefined, e: { f: {} }, g: [null, {}] })).toBe('{"e":{},"g":[null,{}]}')
  })
})

/** Returns random pairs of small JSON values. */
function* randomPairs(): Generator<readonly [unknown, unknown]> {
  const random = seededRandom(7)
  const below = (n: number) => (random.bytes(1)[0] ?? 0) % n
  const value = (depth: number): unknown => {
    const kind = below(depth === 0 ? 4 : 7)
    if (kind < 4) return [null, 0, 'x', true][kind]
    if (kind === 4) return Array.from({ length: below(3) }, () => value(depth - 1))
    return Object.fromEntries(Array.from({ length: below(4) }, () => ['abc'[below(3)], value(depth - 1)]))
  }
  for (let i = 0; i < 4000; i++) yield [value(3), value(3)]
}

it('sameCanonically is true exactly if the canonical texts are equal', () => {
  let equal = 0
  for (const [a, b] of randomPairs()) {
    const expected = canonicalText(a) === canonicalText(b)
    if (expected) equal++
    expect([a, b, sameCanonically(a, b)]).toEqual([a, b, expected])
  }
  expect(equal).toBeGreaterThan(100)
})

describe('the functions that can pause', () => {
  it('give the same results', () => {
    for (const [a, b] of randomPairs()) {
      expect(runAtOnce(paced.canonicalText(a))).toBe(canonicalText(a))
      expect(runAtOnce(paced.sameCanonically(a, b))).toBe(sameCanonically(a, b))
      expect(JSON.stringify(runAtOnce(paced.withSortedMembers(a)))).toBe(JSON.stringify(withSortedMembers(a)))
    }
  })

  it('omit a member as if it were absent', () => {
    for (const rest of [{}, { app: 'web' }]) {
      const labels = { ...rest, hash: '5' }
      const omitted = { of: labels, name: 'hash' }
      const [given, expected] = [{ metadata: { labels } }, { metadata: { labels: rest } }]
      expect(runAtOnce(paced.canonicalText(given, omitted))).toBe(canonicalText(expected))
      for (const other of [expected, { metadata: {} }, { metadata: { labels: { app: 'api' } } }, {}]) {
        expect(runAtOnce(paced.sameCanonically(given, other, [omitted]))).toBe(sameCanonically(expected, other))
        expect(runAtOnce(paced.sameCanonically(other, given, [omitted]))).toBe(sameCanonically(other, expected))
      }
    }
  })

  it('pause within a large map and within a large list', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `label-${i}`)
    const wide = { labels: Object.fromEntries(names.map((name) => [name, 'v'])) }
    for (const value of [wide, { args: names }])
      for (const work of [
        paced.canonicalText(value),
        paced.sameCanonically(value, structuredClone(value)),
        paced.withSortedMembers(value),
      ]) {
        let steps = 0
        while (work.next().done !== true) steps++
        expect(steps).toBeGreaterThan(100)
      }
  })
})

it('the hash of a text is short and stable, and differs after a collision', () => {
  expect(shortHash('{"a":1}')).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
  expect(shortHash('{"a":1}')).toBe(shortHash('{"a":1}'))
  expect(shortHash('{"a":1}', 1)).not.toBe(shortHash('{"a":1}'))
})
