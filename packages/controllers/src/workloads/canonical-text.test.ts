import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { canonicalText, sameCanonically, shortHash } from './canonical-text.ts'

describe('the canonical text', () => {
  it('does not depend on the order of members', () => {
    expect(canonicalText({ b: 1, a: [{ d: 'x', c: true }] })).toBe('{"a":[{"c":true,"d":"x"}],"b":1}')
  })

  it('omits null and empty members, and keeps the items of lists', () => {
    expect(canonicalText({ a: {}, b: [], c: null, d: undefined, e: { f: {} }, g: [null, {}] })).toBe('{"e":{},"g":[null,{}]}')
  })
})

it('values are the same canonically exactly if their texts are equal', () => {
  const random = seededRandom(7)
  const below = (n: number) => (random.bytes(1)[0] ?? 0) % n
  const value = (depth: number): unknown => {
    const kind = below(depth === 0 ? 4 : 7)
    if (kind < 4) return [null, 0, 'x', true][kind]
    if (kind === 4) return Array.from({ length: below(3) }, () => value(depth - 1))
    return Object.fromEntries(Array.from({ length: below(4) }, () => ['abc'[below(3)], value(depth - 1)]))
  }
  let equal = 0
  for (let i = 0; i < 4000; i++) {
    const [a, b] = [value(3), value(3)]
    const expected = canonicalText(a) === canonicalText(b)
    if (expected) equal++
    expect([a, b, sameCanonically(a, b)]).toEqual([a, b, expected])
  }
  expect(equal).toBeGreaterThan(100)
})

it('the hash of a text is short, stable, and another one after a collision', () => {
  expect(shortHash('{"a":1}')).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
  expect(shortHash('{"a":1}')).toBe(shortHash('{"a":1}'))
  expect(shortHash('{"a":1}', 1)).not.toBe(shortHash('{"a":1}'))
})
