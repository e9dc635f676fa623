import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differingExcerpts, excerpt } from './excerpts.ts'

const long = 'x'.repeat(300)

describe('differingExcerpts', () => {
  it('keeps texts that fit', () => {
    expect(differingExcerpts('a', 'b', 100)).toEqual(['a', 'b'])
    expect(differingExcerpts('same', 'same', 2)).toEqual(['sa...', 'sa...'])
  })

  it('shows the first difference of long texts, with the text before it', () => {
    expect(differingExcerpts(`${long}-one`, `${long}-two`, 40)).toEqual([`...${'x'.repeat(19)}-one`, `...${'x'.repeat(19)}-two`])
    expect(differingExcerpts(`1${long}`, `2${long}`, 10)).toEqual(['1xxxxxxxxx...', '2xxxxxxxxx...'])
    expect(differingExcerpts(long, `${long}y`, 10)).toEqual(['...xxxxx', '...xxxxxy'])
  })

  it('never shows different texts alike, and never halves of a character', () => {
    const text = fc.stringMatching(/^[ab😀😁𝒳]{0,60}$/u)
    fc.assert(
      fc.property(text, text, fc.integer({ min: 4, max: 30 }), (a, b, max) => {
        const [shownA, shownB] = differingExcerpts(a, b, max)
        expect(shownA === shownB).toBe(a === b)
        for (const shown of [shownA, shownB]) {
          expect(shown).not.toMatch(/\p{Surrogate}/u)
          expect(shown.length).toBeLessThanOrEqual(max + 6)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('excerpt', () => {
  it('is the beginning of a long text', () => {
    expect([excerpt('abc', 3), excerpt('abcd', 3), excerpt('ab😀', 3)]).toEqual(['abc', 'abc...', 'ab...'])
  })
})
