import { describe, expect, it } from 'vitest'
import { Slices } from './slices.ts'

/** Each step takes a millisecond of a clock that only they move. */
function worker() {
  let now = 0
  const log: string[] = []
  function* steps(name: string, count: number): Generator<void, string> {
    for (let step = 0; step < count; step++) {
      now++
      log.push(name)
      yield
    }
    return name
  }
  return { slices: new Slices({ now: () => now }, 5), log, steps }
}

describe('work in slices', () => {
  it('lets the event loop run between slices', async () => {
    const { slices, log, steps } = worker()
    const done = slices.run(steps('long', 12))
    expect(log).toHaveLength(5)
    await new Promise((resolve) => setImmediate(resolve))
    expect(log).toHaveLength(10)
    expect(await done).toBe('long')
  })

  it('short work does not wait for long work that began before', async () => {
    const { slices, steps } = worker()
    const ended: string[] = []
    const note = (name: string) => ended.push(name)
    await Promise.all([slices.run(steps('long', 50)).then(note), slices.run(steps('short', 2)).then(note)])
    expect(ended).toEqual(['short', 'long'])
  })

  it('a failure ends its own work only', async () => {
    const { slices, steps } = worker()
    // biome-ignore lint/correctness/useYield: it fails before it could
    const failing = (function* (): Generator<void, string> {
      throw new Error('broken')
    })()
    const [failed, done] = await Promise.allSettled([slices.run(failing), slices.run(steps('a', 9))])
    expect(failed).toMatchObject({ status: 'rejected' })
    expect(done).toEqual({ status: 'fulfilled', value: 'a' })
    expect(await slices.run(steps('b', 1))).toBe('b')
  })
})
