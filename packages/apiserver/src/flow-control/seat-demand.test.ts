import { describe, expect, it } from 'vitest'
import { DemandStatistics, SeatDemand } from './seat-demand.ts'

describe('demand for seats', () => {
  it('is averaged over time, with the maximum of the period', () => {
    const demand = new SeatDemand(0)
    demand.set(4, 0)
    demand.set(10, 500)
    demand.set(0, 500)
    expect(demand.reset(1000)).toEqual({ max: 10, average: 2, deviation: 2, durationMs: 1000 })
    expect(demand.reset(2000)).toEqual({ max: 0, average: 0, deviation: 0, durationMs: 1000 })
  })

  it('starts a period with the current value', () => {
    const demand = new SeatDemand(0)
    demand.set(3, 100)
    demand.reset(200)
    expect(demand.reset(300)).toMatchObject({ max: 3, average: 3 })
  })

  it('is smoothed: peaks take effect at once and decay slowly', () => {
    const statistics = new DemandStatistics()
    statistics.update({ max: 100, average: 90, deviation: 10, durationMs: 10_000 })
    expect(statistics.smoothed).toBe(100)
    statistics.update({ max: 0, average: 0, deviation: 0, durationMs: 10_000 })
    expect(statistics).toMatchObject({ highWatermark: 0, average: 0 })
    expect(statistics.smoothed).toBeCloseTo(97.7, 6)
    statistics.update({ max: 5, average: 5, deviation: 0, durationMs: 0 })
    expect(statistics).toMatchObject({ highWatermark: 5, average: 0 })
  })
})
