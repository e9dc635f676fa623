import { describe, expect, it } from 'vitest'
import { slowStart } from './slow-start.ts'

describe('slowStart', () => {
  it('doubles the batches and makes every call', async () => {
    let running = 0
    const sizes: number[] = []
    const outcome = await slowStart(10, async () => {
      running++
      await Promise.resolve()
      sizes.push(running)
      await Promise.resolve()
      running--
    })
    expect(outcome).toEqual({ successes: 10, error: undefined })
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4)
  })

  it('stops after the batch with a failure', async () => {
    const calls: number[] = []
    const outcome = await slowStart(10, async (index) => {
      calls.push(index)
      if (index === 1) throw new Error('no')
    })
    expect([outcome.successes, calls]).toEqual([2, [0, 1, 2]])
    expect(outcome.error).toEqual(new Error('no'))
  })
})
