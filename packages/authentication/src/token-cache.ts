import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import { whenDone } from '@krmkit/base/work'
import type { Clock, Random } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { createKeyedDigest } from './keyed-digest.ts'

export interface TokenCacheOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** Lifetime of authenticated outcomes, in milliseconds. Default 2 minutes; 0 disables. */
  readonly successMs?: number
  /** Lifetime of other outcomes, in milliseconds. Default 2 minutes; 0 disables. */
  readonly failureMs?: number
  /** Size of the cache, in bytes. Default 8 MiB. A quarter is reserved for failures, so invalid tokens cannot evict valid ones. */
  readonly maxBytes?: number
  /** Filters tokens before any look-up; rejected tokens get no opinion. Default: accepts all. */
  readonly accepts?: (token: string) => boolean
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

/** Marks rejections because of a failed authenticator, as opposed to invalid tokens. */
const transient = Symbol('transient')

/** Creates a rejection that is never cached, because a retry may succeed. */
export function transientRejection(reason: string): AuthenticationOutcome {
  return { kind: 'rejected', reason, [transient]: true } as AuthenticationOutcome
}

/** Whether an outcome is a transient rejection. */
export function isTransient(outcome: AuthenticationOutcome): boolean {
  return transient in outcome
}

/**
 * Caches the outcomes of a token authenticator by keyed digest of the token and by audiences; tokens are never stored. Concurrent calls
 * with equal arguments share one call of `inner`. No outcome outlives its `expiresAt`.
 *
 * @see {@link withConcurrencyLimit} for an example.
 */
export function createCachedTokenAuthenticator(inner: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, successMs = 120_000, failureMs = 120_000, maxBytes = 8 * 1024 * 1024, accepts } = options
  const digest = createKeyedDigest(options.random)
  const failureBytes = Math.floor(maxBytes / 4)
  const successes = new ByteBoundedCache<AuthenticationOutcome>({ clock, maxBytes: maxBytes - failureBytes })
  const failures = new ByteBoundedCache<AuthenticationOutcome>({ clock, maxBytes: failureBytes })
  const pendingCalls = new Map<string, Promise<AuthenticationOutcome>>()

  const store = (key: string, outcome: AuthenticationOutcome): AuthenticationOutcome => {
    const now = clock.now()
    if (outcome.kind !== 'authenticated') {
      if (!isTransient(outcome)) failures.set(key, outcome, now + failureMs)
      return outcome
    }
    successes.set(key, outcome, Math.min(now + successMs, outcome.expiresAt ?? Number.POSITIVE_INFINITY))
    return outcome
  }

  return {
    authenticateToken(token, options) {
      if (accepts !== undefined && !accepts(token)) return noOpinion
      const audiences = options?.audiences
      // Digests have a fixed length, so digest and audiences cannot be confused.
      const key = `${options?.digest?.value() ?? digest(token)}${audiences === undefined ? '' : JSON.stringify(audiences)}`
      const cached = successes.get(key) ?? failures.get(key)
      if (cached !== undefined) return cached
      const pending = pendingCalls.get(key)
      if (pending !== undefined) return pending
      // Callers may share the call, so the signal of a single caller is not passed on.
      let isDone = false
      const outcome = whenDone(inner.authenticateToken(token, audiences && { audiences }), (given) => {
        isDone = true
        return store(key, given)
      })
      if (isDone) return outcome
      const shared = Promise.resolve(outcome).finally(() => pendingCalls.delete(key))
      pendingCalls.set(key, shared)
      return shared
    },
  }
}
