import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { divideSeats, type SeatClaim } from './seat-allocation.ts'

const claim = (target: number, lower: number, upper: number): SeatClaim => ({ target, lower, upper })

describe('division of seats', () => {
  it.each([
    ['no bound applies', 30, [claim(10, 0, 100), claim(20, 0, 100)], [10, 20]],
    ['an upper bound applies', 10, [claim(10, 0, 20), claim(30, 0, 5)], [5, 5]],
    ['a lower bound applies', 10, [claim(8, 8, 20), claim(8, 0, 20)], [8, 2]],
    ['all lower bounds apply', 10, [claim(5, 5, 10), claim(5, 5, 10)], [5, 5]],
    ['all upper bounds apply', 20, [claim(1, 0, 10), claim(1, 0, 10)], [10, 10]],
    ['a level without demand', 10, [claim(0, 0, 10), claim(10, 0, 8)], [2, 8]],
    ['no seats', 0, [claim(0, 0, 10)], [0]],
  ])('%s', (_, total, claims, expected) => {
    const { seats = [] } = divideSeats(total, claims) ?? {}
    expect(seats.map((each) => Math.round(each * 1e4) / 1e4)).toEqual(expected)
  })

  it('has no solution for a total outside of the bounds', () => {
    expect(divideSeats(10, [claim(5, 6, 10), claim(5, 6, 10)])).toBeUndefined()
    expect(divideSeats(30, [claim(5, 0, 10), claim(5, 0, 10)])).toBeUndefined()
    expect(divideSeats(-1, [])).toBeUndefined()
  })

  it('sums to the total, with the same fraction of the target for every claim within its bounds', () => {
    const random = seededRandom(7)
    const number = (most: number) => Math.round(((random.bytes(1)[0] ?? 0) / 255) * most)
    let solved = 0
    for (let i = 0; i < 500; i++) {
      const claims = Array.from({ length: 1 + number(7) }, () => {
        const lower = number(20)
        return claim(lower + number(50), lower, lower + number(80))
      })
      const total = claims.reduce((sum, { lower, upper }) => sum + lower + number(upper - lower), 0)
      const divided = divideSeats(total, claims)
      if (divided === undefined) continue
      solved++
      const { seats, fairFraction } = divided
      expect(seats.reduce((sum, each) => sum + each, 0)).toBeCloseTo(total, 4)
      for (const [j, { target, lower, upper }] of claims.entries()) {
        const fair = fairFraction * Math.max(target, 0.001)
        expect(seats[j]).toBeCloseTo(Math.max(lower, Math.min(upper, fair)), 6)
      }
    }
    expect(solved).toBe(500)
  })

  it('matches kube-apiserver after start', () => {
    const lower = [13, 0, 24, 25, 73, 50, 49, 24]
    const nominal = [13, 0, 49, 25, 98, 74, 98, 245]
    const { seats = [], fairFraction } = divideSeats(
      602,
      lower.map((each, i) => claim(each, each, (nominal[i] as number) + 600)),
    ) ?? { fairFraction: 0 }
    expect(seats.map(Math.round)).toEqual([30, 0, 56, 58, 170, 117, 114, 56])
    expect(fairFraction).toBeCloseTo(2.3333, 3)
  })
})
