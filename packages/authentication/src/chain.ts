import type { AuthenticationOutcome, AuthenticationRequest, Authenticator, TokenAuthenticator } from './interfaces.ts'

const noOpinion: AuthenticationOutcome = { kind: 'noOpinion' }

export interface AuthenticatorChainOptions {
  /**
   * What a rejection does. `remember` (default): later members are still asked, and only when none of them knows the
   * caller is it rejected, with all reasons. `stop`: the first rejection decides, so that a bad credential does not fall
   * through to anonymous access.
   */
  readonly onRejection?: 'remember' | 'stop'
}

/** Asks one after the other; the first that knows the caller decides. */
export function createAuthenticatorChain(
  members: readonly Authenticator[],
  options: AuthenticatorChainOptions = {},
): Authenticator {
  const asks = members.map((member) => (request: AuthenticationRequest) => member.authenticate(request))
  return { authenticate: (request) => firstOutcome(asks, request, { stop: options.onRejection === 'stop' }) }
}

/** As `chain`, for tokens. */
export function createTokenAuthenticatorChain(
  members: readonly TokenAuthenticator[],
  options: AuthenticatorChainOptions = {},
): TokenAuthenticator {
  type Ask = { readonly token: string; readonly options: Parameters<TokenAuthenticator['authenticateToken']>[1] }
  const asks = members.map((member) => (ask: Ask) => member.authenticateToken(ask.token, ask.options))
  return {
    authenticateToken: (token, ask) => firstOutcome(asks, { token, options: ask }, { stop: options.onRejection === 'stop' }),
  }
}

/**
 * Everybody whom `member` knows also belongs to `system:authenticated`, but for the anonymous user and those who already
 * belong to it or to `system:unauthenticated`.
 */
export function withAuthenticatedGroup(member: Authenticator): Authenticator {
  const known = new WeakMap<object, AuthenticationOutcome>()
  const add = (outcome: AuthenticationOutcome): AuthenticationOutcome => {
    if (outcome.kind !== 'authenticated') return outcome
    const { user } = outcome
    if (user.username === 'system:anonymous') return outcome
    if (user.groups.some((group) => group === 'system:authenticated' || group === 'system:unauthenticated')) return outcome
    const seen = known.get(outcome)
    if (seen !== undefined) return seen
    const added = { ...outcome, user: { ...user, groups: [...user.groups, 'system:authenticated'] } }
    known.set(outcome, added)
    return added
  }
  return {
    authenticate(request) {
      const outcome = member.authenticate(request)
      return outcome instanceof Promise ? outcome.then(add) : add(outcome)
    },
  }
}

type Ask<T> = (value: T) => AuthenticationOutcome | Promise<AuthenticationOutcome>

/** Stays synchronous for as long as the members do. */
function firstOutcome<T>(
  asks: readonly Ask<T>[],
  value: T,
  options: { readonly stop: boolean },
): AuthenticationOutcome | Promise<AuthenticationOutcome> {
  const reasons: string[] = []
  for (let i = 0; i < asks.length; i++) {
    const answer = asks[i]!(value)
    if (answer instanceof Promise) return continueAsync(asks, value, { ...options, from: i, pending: answer, reasons })
    if (answer.kind === 'authenticated') return answer
    if (answer.kind === 'rejected') {
      if (options.stop) return answer
      reasons.push(answer.reason)
    }
  }
  return rejectionFrom(reasons)
}

async function continueAsync<T>(
  asks: readonly Ask<T>[],
  value: T,
  state: { stop: boolean; from: number; pending: Promise<AuthenticationOutcome>; reasons: string[] },
): Promise<AuthenticationOutcome> {
  let answer = await state.pending
  for (let i = state.from; ; ) {
    if (answer.kind === 'authenticated') return answer
    if (answer.kind === 'rejected') {
      if (state.stop) return answer
      state.reasons.push(answer.reason)
    }
    i++
    if (i >= asks.length) return rejectionFrom(state.reasons)
    answer = await asks[i]!(value)
  }
}

function rejectionFrom(reasons: readonly string[]): AuthenticationOutcome {
  if (reasons.length === 0) return noOpinion
  return { kind: 'rejected', reason: reasons.length === 1 ? reasons[0]! : `[${reasons.join(', ')}]` }
}
