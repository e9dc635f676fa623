import type { Random, UserInfo } from '@krmkit/meta'
import { invalidArgument, requireMethod } from './arguments.ts'
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
 * Parses a token file with lines of `token,user name,user uid,"group one,group two"`; groups are optional. Of several lines
 * with one token the last applies; lines with an empty token are skipped.
 *
 * @throws AuthenticationError `InvalidTokenFile`; the message names the line, never the token.
 * @example
 * ```ts
 * import { parseStaticTokens } from '@krmkit/authentication'
 *
 * parseStaticTokens('s3cret,jane,uid-1,"dev,ops"')
 * // [{ token: 's3cret', user: { username: 'jane', uid: 'uid-1', groups: ['dev', 'ops'] } }]
 * ```
 */
export function parseStaticTokens(text: string): StaticToken[] {
  if (typeof text !== 'string') throw invalidArgument('parseStaticTokens needs the text of a token file')
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
 * Authenticates a fixed set of tokens. Tokens are stored and looked up by keyed digest, so that look-up times reveal no
 * information about them.
 *
 * @throws AuthenticationError `InvalidArgument`
 * @param options `digest` shares the digest of a bearer token authenticator; otherwise a new key is drawn from `random`.
 * @example
 * ```ts
 * import { createStaticTokenAuthenticator, parseStaticTokens } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const tokens = createStaticTokenAuthenticator(parseStaticTokens('s3cret,jane,uid-1,"dev,ops"'), { random: systemRandom })
 * await tokens.authenticateToken('s3cret')
 * // { kind: 'authenticated', user: { username: 'jane', uid: 'uid-1', groups: ['dev', 'ops'] } }
 * ```
 */
export function createStaticTokenAuthenticator(
  tokens: readonly StaticToken[],
  options: { readonly random: Pick<Random, 'bytes'> } | { readonly digest: KeyedDigest },
): TokenAuthenticator {
  const digest = digestOf(options)
  const users = new Map<string, AuthenticationOutcome>()
  if (!Array.isArray(tokens)) throw invalidArgument('createStaticTokenAuthenticator needs a list of { token, user }')
  for (const each of tokens) {
    if (!isStaticToken(each)) throw invalidArgument('a static token is { token, user: { username, groups } }')
    const { token, user } = each
    if (token !== '') users.set(digest(token), { kind: 'authenticated', user: frozenUser(user) })
  }
  return {
    authenticateToken: (token, options) =>
      users.get(options?.digest?.by === digest ? options.digest.value() : digest(token)) ?? noOpinion,
  }
}

function isStaticToken(value: unknown): value is StaticToken {
  const { token: text, user } = (value ?? {}) as Partial<StaticToken>
  return typeof text === 'string' && typeof user?.username === 'string' && Array.isArray(user.groups)
}

function digestOf(options: Parameters<typeof createStaticTokenAuthenticator>[1]): KeyedDigest {
  const { digest, random } = (options ?? {}) as { digest?: KeyedDigest; random?: Pick<Random, 'bytes'> }
  if (typeof digest === 'function') return digest
  requireMethod('createStaticTokenAuthenticator: `random`, such as `systemRandom`,', random, 'bytes')
  return createKeyedDigest(random as Pick<Random, 'bytes'>)
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
