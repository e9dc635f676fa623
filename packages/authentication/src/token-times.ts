import type { Claims } from './jwt.ts'

/** Tolerated clock difference between machines, in seconds. */
export const clockSkewSeconds = 10

/** Tolerances for the times of a token, in seconds. */
export interface ClockSkew {
  readonly afterEnd: number
  readonly beforeStart: number
  /** Before the claim `iat`. */
  readonly beforeIssue: number
}

const defaultSkew: ClockSkew = { afterEnd: clockSkewSeconds, beforeStart: clockSkewSeconds, beforeIssue: clockSkewSeconds }

/**
 * For external issuers, as on kube-apiserver: no tolerance at expiry, and one minute before `nbf`. Differs: kube-apiserver
 * ignores `iat`; here a token is rejected more than five minutes before `iat`.
 */
export const issuerSkew: ClockSkew = { afterEnd: 0, beforeStart: 60, beforeIssue: 300 }

export interface TokenTimeOptions {
  /** Subject of messages, such as `token`. */
  readonly what: string
  /** Whether the claim `exp` is required. Default true. */
  readonly mustExpire?: boolean
  /** Default: `clockSkewSeconds` for each time. */
  readonly skew?: ClockSkew
}

/** Returns why a token is not valid at `now`, in milliseconds since the epoch; undefined when it is valid. */
export function tokenTimeProblem({ exp, nbf, iat }: Claims, now: number, options: TokenTimeOptions): string | undefined {
  const { what, mustExpire = true, skew = defaultSkew } = options
  const seconds = now / 1000
  for (const time of [exp, nbf, iat]) {
    if (time !== undefined && (typeof time !== 'number' || !Number.isFinite(time)))
      return `the times of the ${what} cannot be read`
  }
  if (exp === undefined && mustExpire) return `the ${what} does not say when it expires`
  if (exp !== undefined && seconds >= (exp as number) + skew.afterEnd) return `${what} has expired`
  if (nbf !== undefined && seconds < (nbf as number) - skew.beforeStart) return `${what} is not valid yet`
  if (iat !== undefined && seconds < (iat as number) - skew.beforeIssue) return `${what} is issued in the future`
  return undefined
}

/** Returns the expiry of a token including skew, in milliseconds since the epoch; Infinity without `exp`. */
export function tokenEnd({ exp }: Claims, { afterEnd }: ClockSkew = defaultSkew): number {
  return typeof exp === 'number' ? (exp + afterEnd) * 1000 : Number.POSITIVE_INFINITY
}

/** Returns the audiences of a token: `aud` is a string or a list of strings. */
export function audiencesFromClaims({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((one): one is string => typeof one === 'string') : []
}
