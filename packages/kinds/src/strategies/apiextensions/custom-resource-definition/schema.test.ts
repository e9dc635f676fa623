import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { areSameSchemas, type Schema } from './schema.ts'

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const wide = (count: number): Schema => ({ type: 'object', oneOf: times(count, () => ({ required: [] })) })

describe('areSameSchemas', () => {
  const same = (...schemas: readonly (Schema | undefined)[]) => runAtOnce(areSameSchemas(schemas))

  it('ignores empty lists and maps of keywords', () => {
    expect(same()).toBe(true)
    expect(same(undefined, undefined)).toBe(true)
    expect(same({ type: 'object' }, undefined)).toBe(false)
    expect(same({ type: 'object', required: [], properties: {} }, { type: 'object' }, { type: 'object', enum: [] })).toBe(true)
    expect(same({ type: 'object', required: ['a'] }, { type: 'object' })).toBe(false)
    expect(same({ type: 'object', default: {} }, { type: 'object' })).toBe(false)
    expect(same(wide(3), { type: 'object', oneOf: [{}, {}, {}] }, wide(3))).toBe(true)
    expect(same(wide(3), wide(3), wide(4))).toBe(false)
  })

  it('does not visit the only schema', () => {
    expect(areSameSchemas([wide(10)]).next()).toEqual({ done: true, value: true })
  })

  it('has a pause per inner schema', () => {
    const work = areSameSchemas([wide(500), wide(500)])
    let steps = 0
    while (work.next().done !== true) steps++
    expect(steps).toBeGreaterThanOrEqual(1000)
  })

  it('visits the first schema once, whatever the number of versions', () => {
    const visits = (versions: number) => {
      let reads = 0
      const first: Schema = {
        type: 'object',
        get not() {
          reads++
          return { type: 'string' }
        },
      }
      same(first, ...times(versions, () => ({ type: 'object', not: { type: 'string' } })))
      return reads
    }
    expect(visits(40)).toBe(visits(2))
  })
})
