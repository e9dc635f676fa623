import type { Random } from '@krmkit/meta'
import type { AuthenticationOutcome, Authenticator, TokenAuthenticator, TokenOptions } from './interfaces.ts'
import { type KeyedDigest, keyedDigest } from './keyed-digest.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }
const invalid: AuthenticationOutcome = { kind: 'rejected', reason: 'invalid bearer token' }

/** Longer ones are no tokens: a head may hold far more than anybody's token. */
const maxTokenLength = 64 * 1024

/**
 * Reads `Authorization: Bearer TOKEN`. A token that nobody knows is a rejection; no token, or another scheme, is no
 * opinion. Words after the token are ignored; @see API protocol specification, 5.
 */
export function bearerToken(
  tokens: TokenAuthenticator,
  options: {
    /** Lets those who are asked share one HMAC of the token. */
    readonly random?: Pick<Random, 'bytes'>
  } = {},
): Authenticator {
  const digest = options.random === undefined ? undefined : keyedDigest(options.random)
  return {
    authenticate(request) {
      const header = request.headers.authorization
      // Of several headers the first one counts, whatever the others say.
      const token = tokenOf(typeof header === 'string' ? header : header?.[0])
      if (token === '') return noOpinion
      if (token.length > maxTokenLength) return invalid
      const outcome = tokens.authenticateToken(token, askingFor(token, { audiences: request.audiences, digest }))
      return outcome instanceof Promise ? outcome.then(judge) : judge(outcome)
    },
  }
}

function askingFor(
  token: string,
  { audiences, digest }: { readonly audiences: readonly string[] | undefined; readonly digest: KeyedDigest | undefined },
): TokenOptions | undefined {
  const wanted = audiences && { audiences }
  if (digest === undefined) return wanted
  let known: string | undefined
  const once = () => {
    known ??= digest(token)
    return known
  }
  return wanted === undefined ? { digest: once } : { ...wanted, digest: once }
}

function judge(outcome: AuthenticationOutcome): AuthenticationOutcome {
  return outcome.kind === 'noOpinion' ? invalid : outcome
}

/** The token of an Authorization header; empty when it holds none. */
export function tokenOf(header: string | undefined): string {
  if (header === undefined) return ''
  const text = header.trim()
  if (text.length < 8 || text.slice(0, 7).toLowerCase() !== 'bearer ') return ''
  const end = text.indexOf(' ', 7)
  return end < 0 ? text.slice(7) : text.slice(7, end)
}
