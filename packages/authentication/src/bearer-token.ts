import { whenDone } from '@krmkit/base/work'
import { requireMethod } from './arguments.ts'
import { readBearerCredential } from './identity-headers.ts'
import type {
  AuthenticationOutcome,
  AuthenticationRequest,
  Authenticator,
  TokenAuthenticator,
  TokenDigest,
  TokenRequestOptions,
} from './interfaces.ts'
import type { KeyedDigest } from './keyed-digest.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const invalid: AuthenticationOutcome = { kind: 'rejected', reason: 'invalid bearer token' }

/** Maximum length of a token in characters; request headers may be much larger. */
const maxTokenLength = 64 * 1024

export interface BearerTokenOptions {
  /** Digest that the token authenticators share, made by `createKeyedDigest`. */
  readonly digest?: KeyedDigest
}

/**
 * Authenticates `Authorization: Bearer TOKEN`. An unknown token, or a repeated header, is rejected; without a token, or with another
 * scheme, there is no opinion. Text after the token is ignored.
 *
 * @see API protocol specification, 5
 * @example
 * ```ts
 * import { createBearerTokenAuthenticator, createStaticTokenAuthenticator } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const known = [{ token: 's3cret', user: { username: 'jane', groups: [] } }]
 * const bearer = createBearerTokenAuthenticator(createStaticTokenAuthenticator(known, { random: systemRandom }))
 * await bearer.authenticate({ headers: { authorization: 'Bearer other' }, peer: {} })
 * // { kind: 'rejected', reason: 'invalid bearer token' }
 * ```
 */
export function createBearerTokenAuthenticator(tokens: TokenAuthenticator, options: BearerTokenOptions = {}): Authenticator {
  requireMethod('createBearerTokenAuthenticator: `tokens`', tokens, 'authenticateToken')
  return {
    authenticate(request) {
      const credential = readBearerCredential(request.headers.authorization)
      if (credential.kind === 'absent') return noOpinion
      if (credential.kind === 'malformed') return { kind: 'rejected', reason: credential.reason }
      return authenticateBearerToken(tokens, credential.token, request, options)
    },
  }
}

/** Authenticates a token; a token that no authenticator recognizes is rejected. */
export function authenticateBearerToken(
  tokens: TokenAuthenticator,
  token: string,
  { audiences }: Pick<AuthenticationRequest, 'audiences'>,
  { digest }: BearerTokenOptions,
): AuthenticationOutcome | Promise<AuthenticationOutcome> {
  if (token.length > maxTokenLength) return invalid
  return whenDone(tokens.authenticateToken(token, tokenOptionsFor(token, { audiences, digest })), rejectUnknown)
}

function tokenOptionsFor(
  token: string,
  { audiences, digest: by }: { readonly audiences: readonly string[] | undefined; readonly digest: KeyedDigest | undefined },
): TokenRequestOptions | undefined {
  if (by === undefined) return audiences && { audiences }
  const digest = new LazyDigest(token, by)
  return audiences === undefined ? { digest } : { audiences, digest }
}

class LazyDigest implements TokenDigest {
  readonly by: KeyedDigest
  readonly #token: string
  #known: string | undefined

  constructor(token: string, by: KeyedDigest) {
    this.#token = token
    this.by = by
  }

  value(): string {
    this.#known ??= this.by(this.#token)
    return this.#known
  }
}

function rejectUnknown(outcome: AuthenticationOutcome): AuthenticationOutcome {
  return outcome.kind === 'noOpinion' ? invalid : outcome
}
