import { describe, expect, it } from 'vitest'
import { mergePatch } from './merge-patch.direct.ts'
import { createThreeWayMergePatch } from './three-way-merge.ts'

const original = { a: 1, b: { c: 1, d: 1 }, l: [1] }

describe('createThreeWayMergePatch', () => {
  it('deletes fields no longer applied, sets changed ones, and keeps others', () => {
    const modified = { b: { c: 2 }, l: [1, 2], n: { m: 1 } }
    const current = { a: 1, b: { c: 1, d: 1, theirs: 1 }, l: [1], x: 1 }
    const patch = createThreeWayMergePatch({ original, modified, current })
    expect(patch).toEqual({ a: null, b: { c: 2, d: null }, l: [1, 2], n: { m: 1 } })
    expect(mergePatch(current, patch)).toEqual({ b: { c: 2, theirs: 1 }, l: [1, 2], n: { m: 1 }, x: 1 })
  })

  it('deletes nothing that is already absent, and nothing without an original', () => {
    expect(createThreeWayMergePatch({ original, modified: {}, current: { b: { c: 1 } } })).toEqual({ b: null })
    expect(createThreeWayMergePatch({ original: {}, modified: { a: 1 }, current: original })).toEqual({})
  })

  it('reports conflicts with overwrite false', () => {
    const three = { original, modified: { ...original, a: 2 }, current: { ...original, a: 3 } }
    expect(createThreeWayMergePatch(three)).toEqual({ a: 2 })
    expect(() => createThreeWayMergePatch(three, { overwrite: false })).toThrow('has been changed since')
    const agreed = { original, modified: { ...original, a: 3 }, current: { ...original, a: 3 } }
    expect(createThreeWayMergePatch(agreed, { overwrite: false })).toEqual({})
  })

  it('handles unusual member names', () => {
    const modified = JSON.parse('{"__proto__":{"a":1}}')
    const patch = createThreeWayMergePatch({ original: {}, modified, current: {} })
    expect(JSON.stringify(patch)).toBe('{"__proto__":{"a":1}}')
  })
})
