import { memberNames, rememberMemberNames, runAtOnce } from '@krmkit/base/work'
import { copyJson } from '@krmkit/schema/json'
import { describe, expect, it } from 'vitest'
import { copy, keep } from './copies.ts'
import * as direct from './equality.direct.ts'
import { deepEqual, jsonEqual, semanticEqual } from './equality.ts'
import { withDefaultMembers, withMembers, withoutMember } from './map-members.ts'

const large = 20_000
const keys = Array.from({ length: large }, (_, i) => `k${i}`)
const wide = (): Record<string, string> => Object.fromEntries(keys.map((key) => [key, 'v']))
/** A large map as it is in a stored object. */
const stored = (): Record<string, string> => {
  const map = wide()
  rememberMemberNames(map, keys)
  return map
}
const proto = (value: unknown): object => JSON.parse(`{"a":1,"__proto__":${JSON.stringify(value)}}`)

const values: readonly unknown[] = [
  undefined,
  null,
  0,
  1,
  1n,
  '1',
  '',
  true,
  [],
  [1],
  [1, 2],
  [null],
  [[]],
  {},
  { a: undefined },
  { a: null },
  { a: [] },
  { a: {} },
  { a: 1 },
  { a: 1n },
  { b: 1 },
  { a: 1, b: [{ c: 1 }, { c: 2 }] },
  { b: [{ c: 1 }, { c: 2 }], a: 1 },
  { a: 1, b: [{ c: 1 }, { c: 3 }] },
  proto({ b: 1 }),
  proto({ b: 2 }),
  proto([]),
  { a: 1, toString: 1 },
]

describe('equality with pauses', () => {
  it('equals the plain one', () => {
    for (const a of values) {
      for (const b of values) {
        expect(runAtOnce(semanticEqual(a, b)), 'semantic').toBe(direct.semanticEqual(a, b))
        expect(runAtOnce(deepEqual(a, b)), 'deep').toBe(direct.deepEqual(a, b))
      }
    }
  })

  it('distinguishes absent, null and empty members of JSON, and ignores the order of members', () => {
    expect(runAtOnce(jsonEqual({ a: 1, b: [{}] }, { b: [{}], a: 1 }))).toBe(true)
    for (const [a, b] of [
      [{}, { a: null }],
      [{ a: null }, {}],
      [{ a: [] }, { a: {} }],
      [proto(1), { a: 1 }],
      [{ a: 1 }, proto(1)],
    ])
      expect(runAtOnce(jsonEqual(a, b))).toBe(false)
  })

  it('is interrupted within a large map', () => {
    for (const equal of [semanticEqual, deepEqual, jsonEqual]) {
      expect([...equal({ a: wide() }, { a: wide() })].length).toBeGreaterThan(large / 512)
      expect(runAtOnce(equal({ a: wide() }, { a: wide() }))).toBe(true)
      expect(runAtOnce(equal({ a: wide() }, { a: { ...wide(), k7: 'w' } }))).toBe(false)
    }
  })

  it('takes the names of a large map in a separate step', () => {
    expect([...semanticEqual(wide(), wide())].filter((each) => each === true)).toHaveLength(2)
  })

  it('does not read a map that both values share', () => {
    const shared = stored()
    expect([...semanticEqual({ a: shared }, { a: shared })]).toEqual([])
  })
})

describe('copies with pauses', () => {
  it('equal the plain ones, and belong to the caller', () => {
    for (const value of values) {
      const copied = runAtOnce(copy(value))
      expect(copied).toStrictEqual(copyJson(value))
      if (typeof value === 'object' && value !== null) expect(copied).not.toBe(value)
    }
    expect(Object.hasOwn(runAtOnce(copy<object>(proto(1))), '__proto__')).toBe(true)
  })

  it('are interrupted within a large map', () => {
    const map = wide()
    expect([...copy({ a: map })].length).toBeGreaterThan(large / 512)
    const copied = runAtOnce(copy<{ a: object }>({ a: map }))
    expect(copied.a).toEqual(map)
    expect(copied.a).not.toBe(map)
  })

  it('share large frozen maps of texts, but not their containers', () => {
    const map = stored()
    const copied = runAtOnce(copy<{ a: object }>(Object.freeze({ a: map, b: [1] })))
    expect(copied.a).toBe(map)
    expect(Object.isFrozen(copied)).toBe(false)
  })

  it('copy the values of large frozen maps of objects', () => {
    const map = Object.fromEntries(keys.map((key) => [key, Object.freeze({ n: 1 })]))
    rememberMemberNames(map, keys)
    const copied = runAtOnce(copy<Record<string, { n: number }>>(map))
    expect(copied).toEqual(map)
    expect([copied['k1'] === map['k1'], Object.isFrozen(copied['k1']), memberNames(copied)]).toEqual([false, false, keys])
  })

  it('replace or remove one member', () => {
    const to: { a?: object; b?: number } = { a: {}, b: 1 }
    runAtOnce(keep(to, { a: { c: 1 } }, 'a'))
    runAtOnce(keep(to, {}, 'b'))
    expect(to).toEqual({ a: { c: 1 } })
  })
})

describe('members of maps', () => {
  it('are set in place', () => {
    const map: Record<string, string> = { a: '1' }
    expect(runAtOnce(withMembers(map, { a: '2', b: '3' }))).toBe(map)
    expect(map).toEqual({ a: '2', b: '3' })
    expect(runAtOnce(withMembers<string>(undefined, { a: '1' }))).toEqual({ a: '1' })
    expect(runAtOnce(withDefaultMembers(map, { a: '4', c: '5' }))).toEqual({ a: '2', b: '3', c: '5' })
    expect(runAtOnce(withoutMember(map, 'a'))).toBe(map)
    expect(map).toEqual({ b: '3', c: '5' })
  })

  it('are set in a copy of a frozen map, whose names are known', () => {
    const map = stored()
    const work = withMembers(map, { k1: 'w', added: 'v' })
    expect([...work].length).toBeGreaterThan(large / 512)
    const changed = runAtOnce(withMembers(map, { k1: 'w', added: 'v' }))
    expect([changed['k1'], changed['added'], map['k1']]).toEqual(['w', 'v', 'v'])
    expect(memberNames(changed)).toEqual([...keys, 'added'])
    expect(memberNames(runAtOnce(withoutMember(map, 'k0')))).toEqual(keys.slice(1))
    expect(runAtOnce(withDefaultMembers(map, { k1: 'w' }))).toBe(map)
  })
})
