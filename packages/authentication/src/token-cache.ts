import { ByteBoundedCache, type Clock, type Random } from '@krmkit/meta'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { createKeyedDigest } from './keyed-digest.ts'

export interface TokenCacheOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** How long a known token stays known. Default 2 minutes; 0: not at all. */
  readonly successMs?: number
  /** How long an unknown or refused token stays so. Default 2 minutes; 0: not at all. */
  readonly failureMs?: number
  /** Bytes of the answers that are kept. Default 8 MiB, a quarter of them for failures, so that bad tokens do not push out good ones. */
  readonly maxBytes?: number
  /** Tokens that may be known at all; others are no opinion at once. Default: all. */
  readonly accepts?: (token: string) => boolean
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

/** A failure of the authenticator itself, as opposed to a judgement: never kept. */
const transient = Symbol('transient')

/** Marks an outcome as one that must not be kept, because asking again may give another answer. */
export function transientRejection(reason: string): AuthenticationOutcome {
  return { kind: 'rejected', reason, [transient]: true } as AuthenticationOutcome
}

/** Whether an outcome came of a failure on our side and not of the token. */
export function isTransient(outcome: AuthenticationOutcome): boolean {
  return transient in outcome
}

/**
 * Remembers the answers of a token authenticator. Equal questions at the same time are asked once. Tokens are not kept, only
 * their HMAC; different audiences are different questions. An answer is not kept beyond its own `expiresAt`.
 */
export function createCachedTokenAuthenticator(inner: TokenAuthenticator, options: TokenCacheOptions): TokenAuthenticator {
  const { clock, successMs = 120_000, failureMs = 120_000, maxBytes = 8 * 1024 * 1024, accepts } = options
  const digest = createKeyedDigest(options.random)
  const failureBytes = Math.floor(maxBytes / 4)
  const known = new ByteBoundedCache<AuthenticationOutcome>({ clock, maxBytes: maxBytes - failureBytes })
  const unknown = new ByteBoundedCache<AuthenticationOutcome>({ clock, maxBytes: failureBytes })
  const asked = new Map<string, Promise<AuthenticationOutcome>>()

  const keep = (key: string, outcome: AuthenticationOutcome): AuthenticationOutcome => {
    const now = clock.now()
    if (outcome.kind !== 'authenticated') {
      if (!isTransient(outcome)) unknown.set(key, outcome, now + failureMs)
      return outcome
    }
    known.set(key, outcome, Math.min(now + successMs, outcome.expiresAt ?? Number.POSITIVE_INFINITY))
    return outcome
  }

  return {
    authenticateToken(token, ask) {
      if (accepts !== undefined && !accepts(token)) return noOpinion
      // A digest has one length: nothing of the audiences can pass for a piece of it.
      const key = `${ask?.digest?.value() ?? digest(token)}${ask?.audiences === undefined ? '' : JSON.stringify(ask.audiences)}`
      const kept = known.get(key) ?? unknown.get(key)
      if (kept !== undefined) return kept
      const pending = asked.get(key)
      if (pending !== undefined) return pending
      // Several callers may share the answer: none of them can call it off for the others.
      const answer = inner.authenticateToken(token, ask?.audiences && { audiences: ask.audiences })
      if (!(answer instanceof Promise)) return keep(key, answer)
      const shared = answer.then((outcome) => keep(key, outcome)).finally(() => asked.delete(key))
      asked.set(key, shared)
      return shared
    },
  }
}
