import type { Claims } from './jwt.ts'

/** Seconds that the clocks of two machines may differ by. */
export const clockSkewSeconds = 10

/** Seconds that a token is good for beside its times. */
export interface ClockSkew {
  readonly afterEnd: number
  readonly beforeStart: number
}

const defaultSkew: ClockSkew = { afterEnd: clockSkewSeconds, beforeStart: clockSkewSeconds }

/** What others issue ends when it says so, but may begin by a clock that is minutes ahead. */
export const issuerSkew: ClockSkew = { afterEnd: 0, beforeStart: 300 }

export interface TokenTimeOptions {
  /** What is judged, for messages: `token`. */
  readonly what: string
  /** Whether the token must say when it expires. Default true. */
  readonly mustExpire?: boolean
  /** Default: that of two machines of one cluster. */
  readonly skew?: ClockSkew
}

/** Why a token is not good at a time, in milliseconds since the epoch; undefined when it is. */
export function tokenTimeProblem({ exp, nbf, iat }: Claims, now: number, words: TokenTimeOptions): string | undefined {
  const { what, mustExpire = true, skew = defaultSkew } = words
  const seconds = now / 1000
  for (const time of [exp, nbf, iat]) {
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time)))
      return `the times of the ${what} cannot be read`
  }
  if (exp === undefined && mustExpire) return `the ${what} does not say when it expires`
  if (exp !== undefined && seconds >= (exp as number) + skew.afterEnd) return `${what} has expired`
  if (nbf !== undefined && seconds < (nbf as number) - skew.beforeStart) return `${what} is not valid yet`
  if (iat !== undefined && seconds < (iat as number) - skew.beforeStart) return `${what} is issued in the future`
  return undefined
}

/** When a token ends to be good, in milliseconds since the epoch; Infinity when it does not say. */
export function tokenEnd({ exp }: Claims, { afterEnd }: ClockSkew = defaultSkew): number {
  return typeof exp === 'number' ? (exp + afterEnd) * 1000 : Number.POSITIVE_INFINITY
}

/** The audiences of a token: one text, or a list of them. */
export function audiencesFromClaims({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((one): one is string => typeof one === 'string') : []
}
