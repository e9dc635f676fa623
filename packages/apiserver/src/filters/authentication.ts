import type { AuthenticationOutcome, Authenticator } from '@krmkit/authentication'
import type { IdentityHeaderRules } from '@krmkit/authentication/headers'
import { whenDone } from '@krmkit/base/work'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request/context.ts'
import { DerivedRequest } from '../request/derived-request.ts'
import { authenticationMethod, type TraceStep } from '../request/trace.ts'

export interface AuthenticationFilterOptions {
  /** Rules for identity headers, which apply to every authenticator. Front-proxy headers are removed after authentication. */
  readonly identityHeaders: IdentityHeaderRules
  /** Called when an authenticator fails; the request is rejected. */
  readonly onError: (error: unknown) => void
}

/**
 * Authenticates the request. Rejects invalid credentials and malformed identity headers. The authenticator chain decides requests without
 * credentials; it may end with the anonymous user.
 *
 * @see API protocol specification, 5
 */
export function authentication(authenticator: Authenticator, options: AuthenticationFilterOptions): Filter {
  const accept = (context: RequestContext, outcome: AuthenticationOutcome): void => {
    if (outcome.kind !== 'authenticated') throw ApiError.unauthorized(outcome.kind === 'rejected' ? outcome.message : undefined)
    context.user = outcome.user
    if (outcome.warnings !== undefined) context.warnings.push(...outcome.warnings)
    if (outcome.annotations !== undefined) Object.assign(context.annotations, outcome.annotations)
    traceUser(context)
    removeProxyHeaders(context, options.identityHeaders.isProxyHeader)
  }
  return (context, next) => {
    const { request } = context
    const problem = options.identityHeaders.validate(request)
    if (isTokenAfterSpaces(request)) context.warnings.push(spacesWarning)
    if (problem !== undefined) throw problem.code === 401 ? ApiError.unauthorized() : ApiError.badRequest(problem.message)
    if (request.user !== undefined) {
      context.user = request.user
      traceUser(context)
      removeProxyHeaders(context, options.identityHeaders.isProxyHeader)
      return next(context)
    }
    const response = whenDone(authenticate(authenticator, request, options), (outcome) => {
      accept(context, outcome)
      return next(context)
    })
    return Promise.resolve(response)
  }
}

const spacesWarning = 'the provided Authorization header contains extra space before the bearer token, and is ignored'

/** Whether several spaces precede a bearer token, so that it does not count as a credential. */
function isTokenAfterSpaces({ headers: { authorization } }: ApiRequest): boolean {
  return typeof authorization === 'string' && /^\s*bearer {2}/i.test(authorization)
}

function traceUser({ request, user }: RequestContext): void {
  request.trace?.({ step: 'authenticated', user, method: authenticationMethod(request, user) } satisfies TraceStep)
}

/** Returns synchronously when the authenticator does. */
function authenticate(
  authenticator: Authenticator,
  request: ApiRequest,
  options: AuthenticationFilterOptions,
): AuthenticationOutcome | Promise<AuthenticationOutcome> {
  try {
    const outcome = authenticator.authenticate(request)
    return 'kind' in outcome ? outcome : outcome.catch((error: unknown) => refuse(error, options))
  } catch (error) {
    return refuse(error, options)
  }
}

/** @throws ApiError 401, or 429 where too many requests wait for an external authentication service */
function refuse(error: unknown, { onError }: AuthenticationFilterOptions): never {
  if (ApiError.is(error) && error.code === 429) throw error
  // The cause is reported, but not disclosed to the client.
  onError(error)
  throw ApiError.unauthorized()
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
