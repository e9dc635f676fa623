import { describe, expect, it } from 'vitest'
import { forwardClock } from './forward-clock.ts'
import { memoryStorage } from './memory/memory-storage.ts'
import { text } from './testing/harness.ts'

/** A clock that can be set to any time. */
function settableClock(startMs: number) {
  const clock = { nowMs: startMs, now: () => clock.nowMs, setTimeout: () => () => undefined }
  return clock
}

describe('a forward clock', () => {
  it('goes on from the latest time when its clock is set back', () => {
    const clock = settableClock(1000)
    const forward = forwardClock(clock)
    const times = [1000, 1500, 200, 300, 1300, 100, 101].map((nowMs) => {
      clock.nowMs = nowMs
      return forward.now()
    })
    expect(times).toEqual([1000, 1500, 1500, 1600, 2600, 2600, 2601])
  })
})

describe('a store whose clock is set back', () => {
  it('drops history by age and by size, and keeps the order of revisions', async () => {
    const clock = settableClock(Date.UTC(2024, 0, 1))
    const storage = memoryStorage({ clock, historyBytes: 100_000 })
    const write = async () => {
      for (let n = 0; n < 50; n++) await storage.put('/a', text('x'.repeat(5000)))
    }
    await write()
    clock.nowMs -= 24 * 3600_000
    await write()
    clock.nowMs += 5000
    await write()
    expect(storage.revision).toBe(151)
    expect(storage.compacted).toBeGreaterThan(100)
  })
})
