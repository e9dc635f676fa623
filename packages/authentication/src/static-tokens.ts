import type { Random, UserInfo } from '@krmkit/meta'
import { AuthenticationError } from './authentication-error.ts'
import { CsvSyntaxError, parseCsv } from './csv.ts'
import type { AuthenticationOutcome, TokenAuthenticator } from './interfaces.ts'
import { createKeyedDigest, type KeyedDigest } from './keyed-digest.ts'

export interface StaticToken {
  readonly token: string
  readonly user: UserInfo
}

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

/**
 * Reads a token file: one token a line as `token,user name,user uid,"group one,group two"`, the groups optional. When a
 * token appears twice the later line holds. Lines with an empty token are left out.
 *
 * @throws AuthenticationError `InvalidTokenFile`, naming the line but never the token.
 */
export function parseStaticTokens(text: string): StaticToken[] {
  const tokens = new Map<string, StaticToken>()
  for (const { fields, line } of readRecords(text)) {
    if (fields.length < 3) {
      const message = `line ${line} of the token file needs at least 3 columns (token, user name, user uid) and has ${fields.length}`
      throw new AuthenticationError({ code: 'InvalidTokenFile', message, line })
    }
    const [token = '', username = '', uid = '', groups = ''] = fields
    if (token === '') continue
    if (username === '') {
      const message = `line ${line} of the token file has no user name`
      throw new AuthenticationError({ code: 'InvalidTokenFile', message, line })
    }
    tokens.set(token, { token, user: { username, uid, groups: groups === '' ? [] : groups.split(',') } })
  }
  return [...tokens.values()]
}

/**
 * Knows a fixed set of tokens. A token is looked up by its HMAC under a key that only this instance holds, or shares with
 * those who ask, so the time a look-up takes says nothing about the tokens.
 */
export function createStaticTokenAuthenticator(
  tokens: readonly StaticToken[],
  options: { readonly random: Pick<Random, 'bytes'> } | { readonly digest: KeyedDigest },
): TokenAuthenticator {
  const digest = 'digest' in options ? options.digest : createKeyedDigest(options.random)
  const users = new Map<string, AuthenticationOutcome>()
  for (const { token, user } of tokens) {
    if (token !== '') users.set(digest(token), { kind: 'authenticated', user: frozenUser(user) })
  }
  return {
    authenticateToken: (token, ask) => users.get(ask?.digest?.by === digest ? ask.digest.value() : digest(token)) ?? noOpinion,
  }
}

function frozenUser(user: UserInfo): UserInfo {
  return Object.freeze({ ...user, groups: Object.freeze([...user.groups]) })
}

function readRecords(text: string) {
  try {
    return parseCsv(text)
  } catch (error) {
    if (!(error instanceof CsvSyntaxError)) throw error
    throw new AuthenticationError({
      code: 'InvalidTokenFile',
      message: `token file: ${error.message}`,
      line: error.line,
      cause: error,
    })
  }
}
