import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'

/**
 * Makes tokens without audiences of their own good for those of the server: `inner` is asked only when one of the
 * audiences asked for is among them.
 */
export function withServerAudiences(inner: TokenAuthenticator, own: readonly string[]): TokenAuthenticator {
  const whole = new WeakMap<object, AuthenticationOutcome>()
  const add = (outcome: AuthenticationOutcome, audiences: readonly string[]): AuthenticationOutcome => {
    if (outcome.kind !== 'authenticated') return outcome
    if (audiences !== own) return { ...outcome, audiences }
    // The usual case, in which the same answer comes again and again.
    const seen = whole.get(outcome)
    if (seen !== undefined) return seen
    const added = { ...outcome, audiences }
    whole.set(outcome, added)
    return added
  }
  return {
    authenticateToken(token, options) {
      const wanted = options?.audiences
      const audiences = wanted === undefined ? own : intersectAudiences(wanted, own)
      if (audiences.length === 0 && own.length > 0) return { kind: 'noOpinion' }
      const outcome = inner.authenticateToken(token, options)
      return outcome instanceof Promise ? outcome.then((one) => add(one, audiences)) : add(outcome, audiences)
    },
  }
}

/** Those of `wanted` that are also in `given`, in the order asked for. */
export function intersectAudiences(wanted: readonly string[], given: readonly string[]): readonly string[] {
  return wanted.filter((audience) => given.includes(audience))
}
