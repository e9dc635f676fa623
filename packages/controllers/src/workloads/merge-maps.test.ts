import { describe, expect, it } from 'vitest'
import { mergedMembers, mergeMaps, sameMaps, withoutMembers } from './merge-maps.ts'

const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'v']))

it.each([
  ['small', { a: '1', b: '2' }],
  ['large', wide],
])('merges, reduces and compares maps: %s', async (_, map) => {
  expect(await mergeMaps(map, undefined, { a: '3' }, null)).toEqual({ ...map, a: '3' })
  expect(await mergeMaps({ a: '3', c: '4' }, map)).toEqual({ a: '3', c: '4', ...map })
  expect(await withoutMembers({ ...map, own: 'x' }, ['own', 'other'])).toEqual(map)
  expect(await sameMaps(map, { ...map })).toBe(true)
  expect(await sameMaps(map, { ...map, b: '5' })).toBe(false)
  expect(await sameMaps({ ...map, own: '' }, map)).toBe(false)
})

describe('large maps', () => {
  it('are merged with pauses', () => {
    const work = mergedMembers([wide, { a: '1' }])
    let steps = 0
    while (work.next().done !== true) steps++
    expect(steps).toBeGreaterThan(100)
  })

  it('are not copied needlessly', async () => {
    expect(await mergeMaps(wide, undefined)).toBe(wide)
  })
})
