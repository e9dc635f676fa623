import { whenDone } from '@krmkit/base/work'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'

/**
 * Makes tokens without audiences valid for the audiences of the API server: `inner` is consulted only when at least one
 * requested audience is a server audience.
 *
 * @example
 * ```ts
 * import { createStaticTokenAuthenticator, withServerAudiences } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const known = [{ token: 's3cret', user: { username: 'jane', groups: [] } }]
 * const inner = createStaticTokenAuthenticator(known, { random: systemRandom })
 * const tokens = withServerAudiences(inner, ['https://api.example.com'])
 * tokens.authenticateToken('s3cret', { audiences: ['https://vault.example.com'] }) // { kind: 'noOpinion' }
 * ```
 */
export function withServerAudiences(inner: TokenAuthenticator, serverAudiences: readonly string[]): TokenAuthenticator {
  const cached = new WeakMap<object, AuthenticationOutcome>()
  const add = (outcome: AuthenticationOutcome, audiences: readonly string[]): AuthenticationOutcome => {
    if (outcome.kind !== 'authenticated') return outcome
    if (audiences !== serverAudiences) return { ...outcome, audiences }
    // Inner authenticators return shared outcomes, so each one is extended only once.
    const seen = cached.get(outcome)
    if (seen !== undefined) return seen
    const added = { ...outcome, audiences }
    cached.set(outcome, added)
    return added
  }
  return {
    authenticateToken(token, options) {
      const wanted = options?.audiences
      const audiences = wanted === undefined ? serverAudiences : intersectAudiences(wanted, serverAudiences)
      if (audiences.length === 0 && serverAudiences.length > 0) return { kind: 'noOpinion' }
      return whenDone(inner.authenticateToken(token, options), (outcome) => add(outcome, audiences))
    },
  }
}

/** Returns the members of `wanted` that are also in `valid`, in the order of `wanted`. */
export function intersectAudiences(wanted: readonly string[], valid: readonly string[]): readonly string[] {
  return wanted.filter((audience) => valid.includes(audience))
}
