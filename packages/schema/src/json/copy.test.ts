import { runAtOnce } from '@krmkit/base/work'
import { expect, it } from 'vitest'
import { copyJson } from './copy.direct.ts'
import { copyJson as pacedCopyJson } from './copy.ts'

const wide = Object.fromEntries(
  Array.from({ length: 500 }, (_, i) => [`k${i}`, { list: [i, null, { __proto__: null, a: 'b' }] }]),
)
const value = { ...wide, list: Array.from({ length: 500 }, (_, i) => ({ i })), ...JSON.parse('{"__proto__": {"a": 1}}') }

it.each([
  ['at once', copyJson],
  ['with pauses', (each: object) => runAtOnce(pacedCopyJson(each))],
] as const)('copies every level %s', (_, copy) => {
  const copied = copy(value)
  expect(JSON.stringify(copied)).toBe(JSON.stringify(value))
  expect(copied.k1).not.toBe(value.k1)
  expect(copied.list[1]).not.toBe(value.list[1])
})

it('yields within large values', () => {
  expect([...pacedCopyJson(value)].length).toBeGreaterThan(5)
})
