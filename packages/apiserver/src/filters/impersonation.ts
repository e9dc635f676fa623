import { decodeExtraKey, headerValues, impersonationHeaders, singleHeaderValue } from '@krmkit/authentication/headers'
import type { Authorizer } from '@krmkit/authorization'
import { ApiError, createFeatures, type Features, type NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiRequest } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request/context.ts'
import type { TraceStep } from '../request/trace.ts'
import { requireAllowed } from './authorization.ts'
import { constrainedUser, createLastModes, type Impersonation } from './constrained-impersonation.ts'
import { impersonatedUser, impersonationChecks, type RequestedUser } from './impersonated-user.ts'

/**
 * Replaces the user of the request by the impersonated one, when the authenticated user may `impersonate` each of its attributes. The
 * authenticated user is kept as `impersonator`. With gate `ConstrainedImpersonation`, narrower verbs suffice.
 *
 * @throws ApiError 403 for an attribute that may not be impersonated, 400 for groups, uid or extra without a user.
 * @see API protocol specification, 5.6
 */
export function impersonation(authorizer: Authorizer, profile: NamingProfile, features: Features = createFeatures()): Filter {
  const isConstrained = gateEnabled('ConstrainedImpersonation', features)
  const lastModes = createLastModes()
  const impersonate = async (context: RequestContext, requested: RequestedUser): Promise<void> => {
    const caller = context.user
    const { user, constraint } = isConstrained
      ? await constrainedUser(authorizer, context, { requested, profile, lastModes })
      : await legacyUser(authorizer, context, { requested, profile })
    context.impersonator = caller
    context.impersonationConstraint = constraint
    context.user = user
    context.request.trace?.({ step: 'impersonated', user: context.user } satisfies TraceStep)
  }
  return (context, next) => {
    const requested = requestedUser(context.request)
    return requested === undefined ? next(context) : impersonate(context, requested).then(() => next(context))
  }
}

interface Wanted {
  readonly requested: RequestedUser
  readonly profile: NamingProfile
}

async function legacyUser(
  authorizer: Authorizer,
  context: RequestContext,
  { requested, profile }: Wanted,
): Promise<Impersonation> {
  const mode = {
    verb: 'impersonate',
    users: { group: '', version: '' },
    authenticationGroup: `authentication.${profile.apiDomain}`,
  }
  for (const attributes of impersonationChecks(context.user, requested, mode))
    await requireAllowed(authorizer, attributes, context)
  return { user: impersonatedUser(requested), constraint: undefined }
}

/**
 * The impersonated user; undefined when the request impersonates none. As on kube-apiserver, an empty name counts as none.
 *
 * @throws ApiError 400 for malformed headers, which never count as absent.
 */
function requestedUser({ headers }: ApiRequest): RequestedUser | undefined {
  const extra = requestedExtra(headers)
  const username = singleHeader(headers, impersonationHeaders.user) ?? ''
  const groups = headerValues(headers[impersonationHeaders.group])
  const uid = singleHeader(headers, impersonationHeaders.uid) ?? ''
  if (username === '') {
    if (groups.length === 0 && uid === '' && extra === undefined) return undefined
    throw ApiError.badRequest('groups, uid and extra can only be impersonated together with a user: Impersonate-User is missing')
  }
  return { username, uid: uid === '' ? undefined : uid, groups, extra: extra ?? new Map() }
}

function requestedExtra(headers: ApiRequest['headers']): Map<string, readonly string[]> | undefined {
  let extra: Map<string, readonly string[]> | undefined
  for (const name in headers) {
    if (!name.startsWith(impersonationHeaders.extraPrefix)) continue
    const key = decodeExtraKey(name.slice(impersonationHeaders.extraPrefix.length))
    if (key === undefined) throw ApiError.badRequest(`the key in ${name} is not UTF-8`)
    extra ??= new Map()
    extra.set(key, [...(extra.get(key) ?? []), ...headerValues(headers[name])])
  }
  return extra
}

function singleHeader(headers: ApiRequest['headers'], name: string): string | undefined {
  const value = singleHeaderValue(headers[name])
  if (value === false) throw ApiError.badRequest(`header ${name} is repeated`)
  return value
}
