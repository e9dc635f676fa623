import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IncrementalSort } from './incremental-sort.ts'
import { compareNaturally } from './natural-order.ts'

function sorted(items: readonly string[]): { result: readonly string[]; steps: number } {
  const sort = new IncrementalSort(items, compareNaturally)
  for (let steps = 1; ; steps++) {
    const result = sort.step()
    if (result !== undefined) return { result, steps }
  }
}

describe('IncrementalSort', () => {
  it('sorts stably, as Array.sort does', () => {
    const item = fc.tuple(fc.constantFrom('k', 'a-'), fc.nat(50)).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(item, { maxLength: 9000, size: 'max' }), (items) => {
        expect(sorted(items).result).toEqual([...items].sort(compareNaturally))
      }),
      { numRuns: 20 },
    )
  })

  it('takes one step per run and per merge', () => {
    expect(sorted([]).steps).toBe(1)
    expect(sorted(Array.from({ length: 4 * 2048 }, (_, i) => `k${i}`)).steps).toBe(4 + 3 + 1)
  })
})
