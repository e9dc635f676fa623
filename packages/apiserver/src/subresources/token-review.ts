import type { AuthenticationOutcome } from '@krmkit/authentication'
import { ApiError, type ApiObject, type UserInfo } from '@krmkit/meta'
import type { ReviewAnswer } from './review-answer.ts'

interface TokenReview extends ApiObject {
  spec?: { token?: string; audiences?: string[] }
  status?: object
}

/**
 * Authenticates a bearer token, for the audiences of the review or those of the server. The token is authenticated as if it were the only
 * credential of a request.
 *
 * @see API protocol specification, 2.7
 */
export const tokenReview: ReviewAnswer = async ({ authenticator }, { signal }, object) => {
  const review = object as TokenReview
  const token = review.spec?.token ?? ''
  if (token === '') throw ApiError.badRequest('token is required for TokenReview in authentication')
  const audiences = review.spec?.audiences ?? []
  const outcome = await authenticator.authenticate({
    headers: { authorization: `Bearer ${token}` },
    peer: {},
    signal,
    ...(audiences.length === 0 ? {} : { audiences }),
  })
  review.status = statusOf(outcome, audiences)
}

function statusOf(outcome: AuthenticationOutcome, asked: readonly string[]): object {
  // Without a token authenticator the request is anonymous, which does not authenticate the token.
  if (outcome.kind !== 'authenticated' || isAnonymous(outcome.user)) {
    return { user: {}, error: outcome.kind === 'rejected' ? withUnknownToken(outcome.reason) : unknownToken }
  }
  const { audiences = [] } = outcome
  if (asked.length > 0 && !audiences.some((audience) => asked.includes(audience)))
    return { user: {}, error: 'the token is for other audiences' }
  return { authenticated: true, user: userMembers(outcome.user), ...(audiences.length === 0 ? {} : { audiences }) }
}

const unknownToken = 'invalid bearer token'

/** kube-apiserver first tries its loopback token authenticator, whose error it prepends. */
function withUnknownToken(reason: string): string {
  return reason === unknownToken ? reason : `[${unknownToken}, ${reason}]`
}

function isAnonymous({ username, groups }: UserInfo): boolean {
  return username === 'system:anonymous' && groups.includes('system:unauthenticated')
}

/** The members of `UserInfo` in a response, without empty ones. */
export function userMembers({ username, uid = '', groups, extra = {} }: UserInfo): object {
  return {
    ...(username === '' ? {} : { username }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
