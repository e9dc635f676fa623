import { decodeExtraKey, headerValues, impersonationHeaders, singleHeaderValue } from '@krmkit/authentication/headers'
import type { Attributes, Authorizer } from '@krmkit/authorization'
import { ApiError, type NamingProfile, type UserInfo } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request/context.ts'
import type { TraceStep } from '../request/trace.ts'
import { requireAllowed } from './authorization.ts'

const anonymousUser = 'system:anonymous'
const authenticatedGroup = 'system:authenticated'
const unauthenticatedGroup = 'system:unauthenticated'

/** The user that a request impersonates. */
interface RequestedUser {
  readonly username: string
  readonly uid: string | undefined
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/**
 * Replaces the user of the request by the impersonated one, when the authenticated user may `impersonate` each of its attributes. The
 * authenticated user is kept as `impersonator`.
 *
 * @throws ApiError 403 for an attribute that may not be impersonated, 400 for groups, uid or extra without a user.
 * @see API protocol specification, 5.6
 */
export function impersonation(authorizer: Authorizer, profile: NamingProfile): Filter {
  const impersonate = async (context: RequestContext, requested: RequestedUser): Promise<void> => {
    const caller = context.user
    for (const attributes of impersonationChecks(caller, requested, `authentication.${profile.apiDomain}`)) {
      await requireAllowed(authorizer, attributes, context)
    }
    context.impersonator = caller
    context.user = impersonatedUser(requested)
    context.request.trace?.({ step: 'impersonated', user: context.user } satisfies TraceStep)
  }
  return (context, next) => {
    const requested = requestedUser(context.request)
    return requested === undefined ? next(context) : impersonate(context, requested).then(() => next(context))
  }
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

/** One authorization check per attribute: user or service account, groups, extra, uid. */
function* impersonationChecks(caller: UserInfo, requested: RequestedUser, authenticationGroup: string): Generator<Attributes> {
  const core = {
    user: caller,
    verb: 'impersonate',
    isResource: true,
    group: '',
    version: '',
    subresource: '',
    namespace: '',
    path: '',
  }
  const account = accountOf(requested.username)
  if (account !== undefined) yield { ...core, resource: 'serviceaccounts', namespace: account.namespace, name: account.name }
  else yield { ...core, resource: 'users', name: requested.username }
  for (const name of requested.groups) yield { ...core, resource: 'groups', name }
  const other = { ...core, group: authenticationGroup, version: 'v1' }
  for (const [subresource, names] of requested.extra) {
    for (const name of names) yield { ...other, resource: 'userextras', subresource, name }
  }
  if (requested.uid !== undefined) yield { ...other, resource: 'uids', name: requested.uid }
}

function impersonatedUser({ username, uid, groups, extra }: RequestedUser): UserInfo {
  const account = accountOf(username)
  const ownGroups =
    account !== undefined && groups.length === 0
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : [...groups]
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: withVirtualGroup(username, ownGroups),
    ...(extra.size === 0 ? {} : { extra: extraOf(extra) }),
  }
}

/** Adds the group of authenticated or anonymous users, unless the request names one of them. */
function withVirtualGroup(username: string, groups: string[]): readonly string[] {
  if (username === anonymousUser) return groups.includes(unauthenticatedGroup) ? groups : [...groups, unauthenticatedGroup]
  return groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup) ? groups : [...groups, authenticatedGroup]
}

function extraOf(extra: ReadonlyMap<string, readonly string[]>): Record<string, readonly string[]> {
  const result: Record<string, readonly string[]> = {}
  // Keys are client input and may be `__proto__`.
  for (const [key, value] of extra)
    Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true })
  return result
}

const accountPrefix = 'system:serviceaccount:'
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/

function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined
  const parts = username.slice(accountPrefix.length).split(':')
  const [namespace = '', name = ''] = parts
  return parts.length === 2 && label.test(namespace) && name.length <= 253 && subdomain.test(name)
    ? { namespace, name }
    : undefined
}
