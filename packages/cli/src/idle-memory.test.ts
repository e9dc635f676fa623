import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { ofThisProcess, releaseIdleMemory } from './idle-memory.ts'

const mebi = 2 ** 20

function fixture({ shrinks = true } = {}) {
  const clock = fakeClock()
  const state = { busyShare: 0, youngBytes: 32 * mebi, collections: 0 }
  const releasing = releaseIdleMemory({
    clock,
    busyShare: () => state.busyShare,
    youngBytes: () => state.youngBytes,
    collect: () => {
      state.collections++
      if (shrinks) state.youngBytes = mebi
    },
  })
  return { clock, state, releasing }
}

describe('releaseIdleMemory', () => {
  it('collects a large young generation once the process is idle', () => {
    const { clock, state } = fixture()
    state.busyShare = 0.5
    clock.advance(60_000)
    expect(state.collections).toBe(0)
    state.busyShare = 0.001
    clock.advance(60_000)
    expect(state.collections).toBe(1)
    state.youngBytes = 16 * mebi
    clock.advance(60_000)
    expect(state.collections).toBe(2)
  })

  it('gives up in an idle period in which the young generation does not shrink', () => {
    const { clock, state } = fixture({ shrinks: false })
    clock.advance(600_000)
    expect(state.collections).toBe(5)
    state.busyShare = 1
    clock.advance(2000)
    state.busyShare = 0
    clock.advance(600_000)
    expect(state.collections).toBe(10)
  })

  it('stops when it is disposed', () => {
    const { clock, state, releasing } = fixture()
    releasing[Symbol.dispose]()
    clock.advance(60_000)
    expect([state.collections, clock.pending]).toEqual([0, 0])
  })

  it('collects the young generation of this process without exposing the collector', () => {
    // Another file of tests in this process may have exposed it.
    const wasExposed = 'gc' in globalThis
    const { busyShare, youngBytes, collect } = ofThisProcess()
    let garbage: unknown[] = []
    for (let n = 0; n < 1000; n++) garbage = Array.from({ length: 1000 }, () => [n])
    expect(garbage).toHaveLength(1000)
    const before = youngBytes()
    collect()
    expect(youngBytes()).toBeLessThanOrEqual(before)
    expect(busyShare()).toBeLessThanOrEqual(1)
    expect('gc' in globalThis).toBe(wasExposed)
  })
})
