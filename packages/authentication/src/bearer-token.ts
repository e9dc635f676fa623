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

/** Longer ones are no tokens: a head may hold far more than anybody's token. */
const maxTokenLength = 64 * 1024

export interface BearerTokenOptions {
  /** Made by `keyedDigest`: lets those who are asked share one HMAC of the token. */
  readonly digest?: KeyedDigest
}

/**
 * Reads `Authorization: Bearer TOKEN`. An unknown token, or several headers, are rejections; no token, or another
 * scheme, is no opinion. Words after the token are ignored; @see API protocol specification, 5.
 */
export function createBearerTokenAuthenticator(tokens: TokenAuthenticator, options: BearerTokenOptions = {}): Authenticator {
  return {
    authenticate(request) {
      const credential = readBearerCredential(request.headers.authorization)
      if (credential.kind === 'absent') return noOpinion
      if (credential.kind === 'malformed') return { kind: 'rejected', reason: credential.reason }
      return authenticateBearerToken(tokens, credential.token, request, options)
    },
  }
}

/** Whose token it is; a token that nobody knows is a rejection. */
export function authenticateBearerToken(
  tokens: TokenAuthenticator,
  token: string,
  { audiences }: Pick<AuthenticationRequest, 'audiences'>,
  { digest }: BearerTokenOptions,
): AuthenticationOutcome | Promise<AuthenticationOutcome> {
  if (token.length > maxTokenLength) return invalid
  const outcome = tokens.authenticateToken(token, tokenOptionsFor(token, { audiences, digest }))
  return outcome instanceof Promise ? outcome.then(rejectUnknown) : rejectUnknown(outcome)
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
