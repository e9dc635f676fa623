import { whenDone } from '@krmkit/base/work'
import { invalidArgument, requireMembers } from './arguments.ts'
import type { AuthenticationOutcome, AuthenticationRequest, Authenticator, TokenAuthenticator } from './interfaces.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

export interface AuthenticatorChainOptions {
  /**
   * Effect of a rejection. `remember` (default): the chain continues, and rejects with all reasons when no later member authenticates
   * the request. `stop`: the first rejection is final, so an invalid credential never falls through to anonymous access.
   */
  readonly onRejection?: 'remember' | 'stop'
}

/**
 * Consults authenticators in order; the first that authenticates the request ends the chain.
 *
 * @example
 * ```ts
 * import {
 *   anonymousAuthenticator,
 *   createAuthenticatorChain,
 *   createBearerTokenAuthenticator,
 *   createStaticTokenAuthenticator,
 *   withAuthenticatedGroup,
 * } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const tokens = createStaticTokenAuthenticator([], { random: systemRandom })
 * const known = withAuthenticatedGroup(createBearerTokenAuthenticator(tokens))
 * const chain = createAuthenticatorChain([known, anonymousAuthenticator], { onRejection: 'stop' })
 * await chain.authenticate({ headers: {}, peer: {} })
 * // { kind: 'authenticated', user: { username: 'system:anonymous', groups: ['system:unauthenticated'] } }
 * ```
 */
export function createAuthenticatorChain(
  members: readonly Authenticator[],
  options: AuthenticatorChainOptions = {},
): Authenticator {
  requireMembers('createAuthenticatorChain', members, 'authenticate')
  const stop = stopsAtRejection(options)
  const calls = members.map((member) => (request: AuthenticationRequest) => member.authenticate(request))
  return { authenticate: (request) => firstOutcome(calls, request, { stop }) }
}

/**
 * Like {@link createAuthenticatorChain}, for tokens.
 *
 * @example
 * ```ts
 * import { createStaticTokenAuthenticator, createTokenAuthenticatorChain } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const tokensOf = (username: string, token: string) =>
 *   createStaticTokenAuthenticator([{ token, user: { username, groups: [] } }], { random: systemRandom })
 * const tokens = createTokenAuthenticatorChain([tokensOf('jane', 's3cret'), tokensOf('joe', 'pa55word')])
 * await tokens.authenticateToken('pa55word') // { kind: 'authenticated', user: { username: 'joe', groups: [] } }
 * ```
 */
export function createTokenAuthenticatorChain(
  members: readonly TokenAuthenticator[],
  options: AuthenticatorChainOptions = {},
): TokenAuthenticator {
  type TokenCall = { readonly token: string; readonly options: Parameters<TokenAuthenticator['authenticateToken']>[1] }
  requireMembers('createTokenAuthenticatorChain', members, 'authenticateToken')
  const stop = stopsAtRejection(options)
  const calls = members.map((member) => (call: TokenCall) => member.authenticateToken(call.token, call.options))
  return {
    authenticateToken: (token, tokenOptions) => firstOutcome(calls, { token, options: tokenOptions }, { stop }),
  }
}

/**
 * Adds the group `system:authenticated` to every user that `member` authenticates, except `system:anonymous` and users that already
 * belong to it or to `system:unauthenticated`.
 *
 * @see {@link createAuthenticatorChain} for an example.
 */
export function withAuthenticatedGroup(member: Authenticator): Authenticator {
  const cached = new WeakMap<object, AuthenticationOutcome>()
  const add = (outcome: AuthenticationOutcome): AuthenticationOutcome => {
    if (outcome.kind !== 'authenticated') return outcome
    const { user } = outcome
    if (user.username === 'system:anonymous') return outcome
    if (user.groups.some((group) => group === 'system:authenticated' || group === 'system:unauthenticated')) return outcome
    const seen = cached.get(outcome)
    if (seen !== undefined) return seen
    const added = { ...outcome, user: { ...user, groups: [...user.groups, 'system:authenticated'] } }
    cached.set(outcome, added)
    return added
  }
  return {
    authenticate: (request) => whenDone(member.authenticate(request), add),
  }
}

/** A token authenticator that can be replaced while in use. */
export interface ReplaceableTokenAuthenticator extends TokenAuthenticator {
  /** Uses `next` for all later tokens; authentications in progress finish with the previous one. */
  replace(next: TokenAuthenticator): void
}

/**
 * Creates a token authenticator that can be replaced while in use, as when a configuration file is reloaded.
 *
 * @example
 * ```ts
 * import { createStaticTokenAuthenticator } from '@krmkit/authentication'
 * import { createReplaceableTokenAuthenticator } from '@krmkit/authentication/configuration'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const tokens = createReplaceableTokenAuthenticator(createStaticTokenAuthenticator([], { random: systemRandom }))
 * const known = [{ token: 's3cret', user: { username: 'jane', groups: [] } }]
 * tokens.replace(createStaticTokenAuthenticator(known, { random: systemRandom }))
 * await tokens.authenticateToken('s3cret') // { kind: 'authenticated', user: { username: 'jane', groups: [] } }
 * ```
 */
export function createReplaceableTokenAuthenticator(initial: TokenAuthenticator): ReplaceableTokenAuthenticator {
  let current = initial
  return {
    authenticateToken: (token, options) => current.authenticateToken(token, options),
    replace(next) {
      current = next
    },
  }
}

function stopsAtRejection({ onRejection = 'remember' }: AuthenticatorChainOptions): boolean {
  if (onRejection === 'remember' || onRejection === 'stop') return onRejection === 'stop'
  throw invalidArgument(`onRejection is remember or stop, not ${JSON.stringify(onRejection)}`)
}

type Rejection = Extract<AuthenticationOutcome, { kind: 'rejected' }>
type Call<T> = (value: T) => AuthenticationOutcome | Promise<AuthenticationOutcome>

/** Returns the first outcome with an opinion. Synchronous if the members are. */
function firstOutcome<T>(
  calls: readonly Call<T>[],
  value: T,
  options: { readonly stop: boolean },
): AuthenticationOutcome | Promise<AuthenticationOutcome> {
  const rejections: Rejection[] = []
  const from = (index: number): AuthenticationOutcome | Promise<AuthenticationOutcome> => {
    const call = calls[index]
    if (call === undefined) return joinRejections(rejections)
    return whenDone(call(value), (outcome) => {
      if (outcome.kind === 'authenticated') return outcome
      if (outcome.kind === 'rejected') {
        if (options.stop) return outcome
        rejections.push(outcome)
      }
      return from(index + 1)
    })
  }
  return from(0)
}

/** Combines rejections: all reasons, and the first message for the client. */
function joinRejections(rejections: readonly Rejection[]): AuthenticationOutcome {
  const [first] = rejections
  if (first === undefined) return noOpinion
  if (rejections.length === 1) return first
  const message = rejections.find((each) => each.message !== undefined)?.message
  const reason = `[${rejections.map((each) => each.reason).join(', ')}]`
  return { kind: 'rejected', reason, ...(message === undefined ? {} : { message }) }
}
