/** Reproducible pseudo-random choices. */
export interface RandomChoices {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  /** True with a probability of `percent` in 100. */
  chance(percent: number): boolean
}

/** Marsaglia's xorshift with a Weyl sequence, 32 bits. */
export function seededChoices(seed: number): RandomChoices {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  let weyl = seed >>> 0
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    weyl = (weyl + 0x6d2b79f5) >>> 0
    return ((state >>> 0) + weyl) >>> 0
  }
  for (let n = 0; n < 8; n++) next()
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit)
  return { below, pick: (items) => items[below(items.length)]!, chance: (percent) => below(100) < percent }
}
