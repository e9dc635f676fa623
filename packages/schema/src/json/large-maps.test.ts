import { memberCountOfLargeMap, memberNames, runAtOnce } from '@krmkit/base/work'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseJson as pacedParseJson } from './parse-json.ts'

const wide = 30_000
const names = Array.from({ length: wide }, (_, i) => `k${wide - i}`)
const text = (extra = '') => `{${names.map((name) => `"${name}":1`).join(',')}${extra}}`
const parse = (json: string) => runAtOnce(pacedParseJson(new TextEncoder().encode(json), {}))

afterEach(() => vi.restoreAllMocks())

describe('memberNames', () => {
  it('returns the keys of a large parsed object without enumerating it', () => {
    const value = parse(text()).value as object
    const enumerations = vi.spyOn(Object, 'keys')
    expect(memberNames(value)).toEqual(names)
    expect(enumerations.mock.calls.some(([object]) => object === value)).toBe(false)
    expect(memberCountOfLargeMap(value)).toBe(wide)
  })

  it('lists a repeated key once', () => {
    const { value, duplicates } = parse(text(',"k1":2,"new":3,"new":4'))
    expect(memberNames(value as object)).toEqual([...names, 'new'])
    expect(duplicates?.get(value as object)).toHaveLength(wide + 3)
    expect(value).toMatchObject({ k1: 2, new: 4 })
  })

  it('stays correct, because a large parsed object is frozen', () => {
    const value = parse(text()).value as Record<string, unknown>
    expect(() => {
      value['other'] = 1
    }).toThrow(TypeError)
    expect(Object.isFrozen(parse('{"a":1}').value)).toBe(false)
  })

  it('enumerates other objects', () => {
    expect(memberNames({ b: 1, a: 2 })).toEqual(['b', 'a'])
  })
})
