import { describe, expect, it } from 'vitest'
import { FieldSetCache } from './field-set-cache.ts'
import { decodeFieldsV1 } from './fields-v1.direct.ts'

const setOf = (...names: string[]) => decodeFieldsV1(Object.fromEntries(names.map((name) => [`f:${name}`, {}])))

describe('FieldSetCache', () => {
  it('finds an equal set seen before', () => {
    const sets = new FieldSetCache()
    const first = setOf('a', 'b')
    expect(sets.find(first).equal).toBeUndefined()
    expect(sets.find(setOf('b', 'a')).equal).toBe(first)
  })

  it('does not store sets with long path elements', () => {
    const sets = new FieldSetCache()
    sets.find(setOf('x'.repeat(70_000)))
    expect(sets.size).toBe(0)
  })

  it('is bounded to a few megabytes', () => {
    const sets = new FieldSetCache()
    for (let i = 0; i < 200; i++) sets.find(setOf(`${i}${'x'.repeat(60_000)}`))
    expect(sets.size).toBeGreaterThan(0)
    expect(sets.size).toBeLessThan(36)
  })
})
