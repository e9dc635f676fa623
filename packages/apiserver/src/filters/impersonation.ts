import { decodeExtraKey, headerValues, impersonationHeaders, singleHeaderValue } from '@krmkit/authentication/headers'
import type { Authorizer } from '@krmkit/authorization'
import { ApiError, createFeatures, type Features, type NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { compareCodePoints, goQuote } from '@krmkit/meta/go-text'
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
  const refuse = (context: RequestContext, error: unknown): never => {
    if (features.release.atLeast('1.35'))
      context.responseHeaders = { ...context.responseHeaders, 'x-content-type-options': 'nosniff' }
    throw error
  }
  return (context, next) => {
    let requested: RequestedUser | undefined
    try {
      requested = requestedUser(context.request, isConstrained)
    } catch (error) {
      refuse(context, error)
    }
    if (requested === undefined) return next(context)
    return impersonate(context, requested).then(
      () => next(context),
      (error: unknown) => refuse(context, error),
    )
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
function requestedUser({ headers }: ApiRequest, isConstrained: boolean): RequestedUser | undefined {
  const extra = requestedExtra(headers)
  const username = singleHeader(headers, impersonationHeaders.user) ?? ''
  const groups = headerValues(headers[impersonationHeaders.group])
  const uid = singleHeader(headers, impersonationHeaders.uid) ?? ''
  if (username === '') {
    if (groups.length === 0 && uid === '' && extra === undefined) return undefined
    throw ApiError.badRequest(
      isConstrained
        ? `requested ${goUser({ uid, groups, extra })} without impersonating a user name`
        : 'groups, uid and extra can only be impersonated together with a user: Impersonate-User is missing',
    )
  }
  return { username, uid: uid === '' ? undefined : uid, groups, extra: extra ?? new Map() }
}

/** A user without a name in the syntax of Go, as kube-apiserver prints it. */
function goUser({ uid, groups, extra }: GoUser): string {
  const list = (texts: readonly string[]) =>
    `[]string${texts.length === 0 ? '(nil)' : `{${texts.map((text) => goQuote(text)).join(', ')}}`}`
  const sorted = [...(extra ?? [])].sort(([a], [b]) => compareCodePoints(a, b))
  const members = sorted.map(([key, values]) => `${goQuote(key)}:${list(values)}`).join(', ')
  const map = `map[string][]string${sorted.length === 0 ? '(nil)' : `{${members}}`}`
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:${map}}`
}

interface GoUser {
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]> | undefined
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
