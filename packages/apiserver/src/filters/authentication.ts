import type { AuthenticationOutcome, Authenticator, IdentityHeaders } from '@krmkit/authentication'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import { DerivedRequest } from '../derived-request.ts'
import type { Filter, RequestContext } from '../request-context.ts'

export interface AuthenticationFilterOptions {
  /** Judges the headers that say who the caller is, whatever authenticates it. Those of a proxy do not get beyond authentication. */
  readonly identityHeaders: IdentityHeaders
  /** Told of failures of an authenticator itself; the caller is refused. */
  readonly onFault: (error: unknown) => void
}

/**
 * Authenticates the caller. Bad credentials, and identity headers that are malformed, are refused; no credentials are left to the chain (which
 * may end in anonymous).
 *
 * @see API protocol specification, 5
 */
export function authentication(authenticator: Authenticator, options: AuthenticationFilterOptions): Filter {
  return async (context, next) => {
    const { request } = context
    const problem = options.identityHeaders.problemOf(request)
    if (problem !== undefined) throw problem.code === 401 ? ApiError.unauthorized() : ApiError.badRequest(problem.message)
    if (request.user !== undefined) {
      context.user = request.user
      return next()
    }
    const outcome = await authenticate(authenticator, request, options)
    if (outcome.kind !== 'authenticated') throw ApiError.unauthorized()
    context.user = outcome.user
    if (outcome.warnings !== undefined) context.warnings.push(...outcome.warnings)
    if (outcome.annotations !== undefined) Object.assign(context.annotations, outcome.annotations)
    removeProxyHeaders(context, options.identityHeaders.isProxyHeader)
    return next()
  }
}

async function authenticate(
  authenticator: Authenticator,
  request: ApiRequest,
  { onFault }: AuthenticationFilterOptions,
): Promise<AuthenticationOutcome> {
  try {
    return await authenticator.authenticate(request)
  } catch (error) {
    // Too many callers wait for a service outside.
    if (ApiError.is(error) && error.code === 429) throw error
    // Whoever cannot be judged is not let in; what went wrong is nothing for the caller.
    onFault(error)
    throw ApiError.unauthorized()
  }
}

function removeProxyHeaders(context: RequestContext, isProxyHeader: (name: string) => boolean): void {
  const { headers } = context.request
  for (const name in headers) {
    if (!isProxyHeader(name)) continue
    const kept = Object.fromEntries(Object.entries(headers).filter(([other]) => !isProxyHeader(other)))
    context.request = new DerivedRequest(context.request, { headers: Object.assign(Object.create(null) as typeof kept, kept) })
    return
  }
}
