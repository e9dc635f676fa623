import { expect, it } from 'vitest'
import { watchParent } from './watch-parent.ts'

it('tells once when the parent is another one', () => {
  let parent = 7
  let tick = () => {}
  let stopped = 0
  let told = 0
  const every = (fn: () => void) => {
    tick = fn
    return () => void stopped++
  }
  watchParent({ parent: () => parent, every }, () => void told++)
  tick()
  expect([told, stopped]).toEqual([0, 0])
  parent = 1
  tick()
  expect([told, stopped]).toEqual([1, 1])
  // It had gone before anybody looked.
  watchParent({ initial: 7, parent: () => parent, every }, () => void told++)
  tick()
  expect([told, stopped]).toEqual([2, 2])
})
