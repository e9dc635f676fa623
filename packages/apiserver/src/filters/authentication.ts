import type { AuthenticationOutcome, Authenticator } from '@krmkit/authentication'
import { ApiError } from '@krmkit/meta'
import { DerivedRequest } from '../derived-request.ts'
import type { ApiRequest } from '../interfaces.ts'
import type { Filter, RequestState } from '../request-state.ts'

export interface AuthenticationFilterOptions {
  /** Headers by which a proxy in front says who the caller is: nobody behind authentication sees them. */
  readonly isProxyHeader: (name: string) => boolean
  /** Told of failures of an authenticator itself; the caller is refused. */
  readonly onFault: (error: unknown) => void
}

/**
 * Finds out who asks. Bad credentials are refused; no credentials are left to the chain (which may end in anonymous).
 *
 * @see API protocol specification, 5
 */
export function authentication(authenticator: Authenticator, options: AuthenticationFilterOptions): Filter {
  return async (state, next) => {
    const { request } = state
    if (request.user !== undefined) {
      state.user = request.user
      return next()
    }
    const outcome = await outcomeOf(authenticator, request, options)
    if (outcome.kind !== 'authenticated') throw ApiError.unauthorized()
    state.user = outcome.user
    if (outcome.warnings !== undefined) state.warnings.push(...outcome.warnings)
    if (outcome.annotations !== undefined) Object.assign(state.annotations, outcome.annotations)
    withoutProxyHeaders(state, options.isProxyHeader)
    return next()
  }
}

async function outcomeOf(
  authenticator: Authenticator,
  request: ApiRequest,
  { onFault }: AuthenticationFilterOptions,
): Promise<AuthenticationOutcome> {
  try {
    return await authenticator.authenticate(request)
  } catch (error) {
    // Whoever cannot be judged is not let in; what went wrong is nothing for the caller.
    onFault(error)
    throw ApiError.unauthorized()
  }
}

function withoutProxyHeaders(state: RequestState, isProxyHeader: (name: string) => boolean): void {
  const { headers } = state.request
  for (const name in headers) {
    if (!isProxyHeader(name)) continue
    const kept = Object.fromEntries(Object.entries(headers).filter(([other]) => !isProxyHeader(other)))
    state.request = new DerivedRequest(state.request, { headers: Object.assign(Object.create(null) as typeof kept, kept) })
    return
  }
}
