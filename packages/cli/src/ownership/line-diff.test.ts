import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineDiff } from './line-diff.ts'

describe('lineDiff', () => {
  it('reduces equal texts to their length', () => {
    expect(lineDiff(['a', 'b'], ['a', 'b'])).toEqual([{ mark: '@', text: '2 lines' }])
  })

  it('reconstructs both texts from random diffs', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = lineDiff(before, after)
        const count = (text: string) => Number(/^(\d+) line/.exec(text)?.[1])
        const length = (mark: '-' | '+') =>
          shown.reduce(
            (sum, line) => sum + (line.mark === '@' ? count(line.text) : line.mark === ' ' || line.mark === mark ? 1 : 0),
            0,
          )
        expect([length('-'), length('+')]).toEqual([before.length, after.length])
        const changed = (mark: '-' | '+') =>
          shown
            .filter((line) => line.mark === mark)
            .map(({ text }) => text)
            .sort()
        const without = (one: string[], other: string[]) => {
          const rest = [...other]
          return one.filter((line) => (rest.includes(line) ? rest.splice(rest.indexOf(line), 1) && false : true))
        }
        for (const line of without(before, after)) expect(changed('-')).toContain(line)
        for (const line of without(after, before)) expect(changed('+')).toContain(line)
      }),
    )
  })

  it('treats texts above the limit as completely changed', () => {
    const long = (prefix: string) => Array.from({ length: 3000 }, (_, i) => `${prefix}${i}`)
    expect(lineDiff(long('a'), long('b'))).toHaveLength(6000)
  })
})
