import { expect, it } from 'vitest'
import { runAtOnce, sort } from './work.ts'

const shuffled = Array.from({ length: 10_000 }, (_, i) => `k${(i * 7919) % 10_000}`)

it('sorts like Array.sort, with pauses in long lists', () => {
  let yields = 0
  const work = sort([...shuffled])
  let next = work.next()
  for (; next.done !== true; next = work.next()) yields++
  expect(next.value).toEqual([...shuffled].sort())
  expect(yields).toBeGreaterThan(100)
  expect(runAtOnce(sort(['b', 'a']))).toEqual(['a', 'b'])
})

it('is stable with a comparison', () => {
  const items = shuffled.map((text, i) => ({ text, i }))
  const byLength = (a: { text: string }, b: { text: string }) => a.text.length - b.text.length
  expect(runAtOnce(sort([...items], byLength))).toEqual([...items].sort(byLength))
})
