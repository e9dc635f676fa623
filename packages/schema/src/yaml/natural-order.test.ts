import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareChars, compareNaturally } from './natural-order.ts'

const char = fc.constantFrom('0', '0', '1', '9', '5', 'a', 'B', '-', '.', 'é', '\u0663', '\u{1d7d8}')
const key = fc.oneof(
  fc.string({ unit: char, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('0', '1', '7', 'x'), maxLength: 90 }),
)

describe('key order', () => {
  it('is the same in the ASCII fast path', () => {
    fc.assert(
      fc.property(key, key, key, (prefix, a, b) => {
        for (const [x, y] of [
          [a, b],
          [prefix + a, prefix + b],
        ] as const)
          expect(Math.sign(compareNaturally(x, y))).toBe(Math.sign(compareChars([...x], [...y])))
      }),
      { numRuns: 2000 },
    )
  })
})
