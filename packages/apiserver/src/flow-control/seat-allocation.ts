/** A claim on seats with a target and bounds. */
export interface SeatClaim {
  readonly target: number
  readonly lower: number
  readonly upper: number
}

export interface SeatAllocation {
  readonly seats: readonly number[]
  /** The fraction of its target that each claim gets, unless a bound applies. */
  readonly fairFraction: number
}

const minTarget = 0.001

/**
 * Divides `total` so that every claim gets the same fraction of its target within its bounds.
 *
 *     divideSeats(10, [{ target: 10, lower: 0, upper: 20 }, { target: 30, lower: 0, upper: 5 }])
 *     // 5 and 5: the second is at its upper bound, the first gets half of its target
 *
 * @returns undefined when the bounds leave no solution.
 */
export function divideSeats(total: number, claims: readonly SeatClaim[]): SeatAllocation | undefined {
  const targets = claims.map(({ target }) => Math.max(target, minTarget))
  const seatsAt = (fraction: number): number[] =>
    claims.map(({ lower, upper }, i) => Math.max(lower, Math.min(upper, fraction * (targets[i] as number))))
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
  const epsilon = 1e-7
  const lowest = sum(claims.map(({ lower }) => lower))
  const highest = sum(claims.map(({ upper }) => upper))
  if (total < 0 || lowest - total > epsilon || total - highest > epsilon || claims.some(({ lower, upper }) => lower > upper))
    return undefined
  if (total === 0) return { seats: claims.map(() => 0), fairFraction: 0 }
  // The sum is a monotonic, piecewise linear function of the fraction: the solution lies in one of the pieces.
  const bounds = claims.flatMap(({ lower, upper }, i) => [lower / (targets[i] as number), upper / (targets[i] as number)])
  bounds.sort((a, b) => a - b)
  let from = bounds[0] ?? 0
  let below = sum(seatsAt(from))
  for (const to of bounds) {
    if (below >= total - epsilon) break
    const above = sum(seatsAt(to))
    if (above >= total - epsilon) {
      const fraction = above === below ? to : from + ((to - from) * (total - below)) / (above - below)
      return { seats: seatsAt(fraction), fairFraction: fraction }
    }
    from = to
    below = above
  }
  return { seats: seatsAt(from), fairFraction: from }
}
