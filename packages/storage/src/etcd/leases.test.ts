import { describe, expect, it, vi } from 'vitest'
import { Leases } from './leases.ts'

const ttlSeconds = 3600

function bench() {
  let nowMs = 0
  const granted: { id: number; seconds: number }[] = []
  const client = {
    async grantLease(id: number, seconds: number) {
      granted.push({ id, seconds })
      return id
    },
  }
  const leases = new Leases(client, () => nowMs)
  return { granted, leases, advance: (seconds: number) => (nowMs += seconds * 1000) }
}

describe('leases', () => {
  it('are shared by keys of one minute, and last at least as long as each of them', async () => {
    const { granted, leases, advance } = bench()
    const first = await leases.leaseFor(ttlSeconds)
    advance(59)
    expect(await leases.leaseFor(ttlSeconds)).toBe(first)
    expect(granted).toEqual([{ id: first, seconds: ttlSeconds + 60 }])
    advance(2)
    expect(await leases.leaseFor(ttlSeconds)).not.toBe(first)
  })

  it('end in time when the clock of the machine is set back', async () => {
    const clock = vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    try {
      const leases = new Leases({ grantLease: async (id) => id })
      const first = await leases.leaseFor(ttlSeconds)
      clock.setSystemTime(Date.now() - ttlSeconds * 1000)
      clock.advanceTimersByTime(61_000)
      expect(await leases.leaseFor(ttlSeconds)).not.toBe(first)
    } finally {
      clock.useRealTimers()
    }
  })

  it('are shared by 1000 keys at most', async () => {
    const { granted, leases } = bench()
    for (let n = 0; n < 1001; n++) await leases.leaseFor(ttlSeconds)
    expect(granted.length).toBe(2)
  })

  it('are not shared by keys of other lifetimes', async () => {
    const { leases } = bench()
    const first = await leases.leaseFor(ttlSeconds)
    expect(await leases.leaseFor(10)).not.toBe(first)
    expect(await leases.leaseFor(ttlSeconds)).toBe(first)
  })

  it('are requested again after a failure', async () => {
    let calls = 0
    const leases = new Leases({
      async grantLease(id) {
        if (++calls === 1) throw new Error('no')
        return id
      },
    })
    await expect(leases.leaseFor(ttlSeconds)).rejects.toThrow('no')
    expect(await leases.leaseFor(ttlSeconds)).toBeGreaterThan(0)
  })
})
