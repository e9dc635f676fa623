import { expect, it } from 'vitest'
import { watchParent } from './watch-parent.ts'

it('calls back once when the parent changes', () => {
  let parent = 7
  let tick = () => {}
  let stopped = 0
  let notified = 0
  const every = (fn: () => void) => {
    tick = fn
    return () => void stopped++
  }
  watchParent({ parent: () => parent, every }, () => void notified++)
  tick()
  expect([notified, stopped]).toEqual([0, 0])
  parent = 1
  tick()
  expect([notified, stopped]).toEqual([1, 1])
  // The parent was gone before the first check.
  watchParent({ initial: 7, parent: () => parent, every }, () => void notified++)
  tick()
  expect([notified, stopped]).toEqual([2, 2])
})
