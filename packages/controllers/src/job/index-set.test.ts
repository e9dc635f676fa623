import { describe, expect, it } from 'vitest'
import { IndexSet } from './index-set.ts'

describe('IndexSet', () => {
  it.each([
    ['', 10, '', 0],
    ['1,3-5,7', 10, '1,3-5,7', 5],
    ['0-9', 4, '0-3', 4],
    ['1,2,3', 10, '1-3', 3],
    ['1,2', 10, '1,2', 2],
    ['a,2-,4', 10, '4', 1],
    ['12', 10, '', 0],
  ])('parses %j below %j', (text, completions, formatted, size) => {
    const set = IndexSet.parse(text, completions)
    expect([String(set), set.size]).toEqual([formatted, size])
  })

  it('finds members', () => {
    const set = IndexSet.parse('1,3-5,7', 10)
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].filter((index) => set.has(index))).toEqual([1, 3, 4, 5, 7])
  })

  it('merges sets and counts common members', () => {
    const a = IndexSet.of([5, 1, 3])
    const b = IndexSet.parse('2-4,8', 10)
    expect([String(a.union(b)), a.overlap(b)]).toEqual(['1-5,8', 1])
  })

  it('returns the first missing indexes', () => {
    const set = IndexSet.parse('0-1,3,5', 7)
    expect(set.missing(10, 7)).toEqual([2, 4, 6])
    expect(set.missing(2, 7)).toEqual([2, 4])
    expect(set.missing(0, 7)).toEqual([])
    expect(IndexSet.empty.missing(3, 2)).toEqual([0, 1])
  })
})
