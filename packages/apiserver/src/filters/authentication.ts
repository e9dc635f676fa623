import type { Authenticator } from '@krmkit/authentication'
import { ApiError } from '@krmkit/meta'
import type { Filter } from '../request-state.ts'

/**
 * Finds out who asks. Bad credentials are refused; no credentials are left to the chain (which may end in anonymous).
 *
 * @see API protocol specification, 5
 */
export function authentication(authenticator: Authenticator): Filter {
  return async (state, next) => {
    const { request } = state
    if (request.user !== undefined) {
      state.user = request.user
      return next()
    }
    const outcome = await authenticator.authenticate({ headers: request.headers, peer: request.peer })
    if (outcome.kind !== 'authenticated') throw ApiError.unauthorized()
    state.user = outcome.user
    return next()
  }
}
