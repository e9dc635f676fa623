import { decodedKey, impersonationHeaders, singleValue, valuesOf } from '@krmkit/authentication'
import type { Attributes, Authorizer } from '@krmkit/authorization'
import { ApiError, type NamingProfile, type UserInfo } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import type { Filter } from '../request-context.ts'
import { requireAllowed } from './authorization.ts'

const anonymousUser = 'system:anonymous'
const authenticatedGroup = 'system:authenticated'
const unauthenticatedGroup = 'system:unauthenticated'

/** Whom a request wants to be. */
interface RequestedUser {
  readonly username: string
  readonly uid: string | undefined
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/**
 * Lets callers act as somebody else, when they may `impersonate` each attribute of that user. From then on the request is that user's
 * alone; who asked stays known as `impersonator`.
 *
 * @throws ApiError 403 for an attribute that the caller may not take, 400 for groups, uid or extra without a user.
 * @see API protocol specification, 5.6
 */
export function impersonation(authorizer: Authorizer, profile: NamingProfile): Filter {
  return async (context, next) => {
    const wanted = requestedUser(context.request)
    if (wanted === undefined) return next()
    const caller = context.user
    for (const attributes of impersonationChecks(caller, wanted, `authentication.${profile.apiDomain}`)) {
      await requireAllowed(authorizer, attributes)
    }
    context.impersonator = caller
    context.user = impersonatedUser(wanted)
    return next()
  }
}

/**
 * Undefined when the request impersonates no user; an empty name is none, as in the stock server.
 *
 * @throws ApiError 400 for headers that cannot be read: a malformed header is not an absent one.
 */
function requestedUser({ headers }: ApiRequest): RequestedUser | undefined {
  const extra = requestedExtra(headers)
  const username = singleHeader(headers, impersonationHeaders.user) ?? ''
  const groups = valuesOf(headers[impersonationHeaders.group])
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
    const key = decodedKey(name.slice(impersonationHeaders.extraPrefix.length))
    if (key === undefined) throw ApiError.badRequest(`the key in ${name} is not UTF-8`)
    extra ??= new Map()
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(headers[name])])
  }
  return extra
}

function singleHeader(headers: ApiRequest['headers'], name: string): string | undefined {
  const value = singleValue(headers[name])
  if (value === false) throw ApiError.badRequest(`header ${name} is repeated`)
  return value
}

/** One question for each attribute: the user (or service account), groups, extra, uid. */
function* impersonationChecks(caller: UserInfo, wanted: RequestedUser, authenticationGroup: string): Generator<Attributes> {
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
  const account = accountOf(wanted.username)
  if (account !== undefined) yield { ...core, resource: 'serviceaccounts', namespace: account.namespace, name: account.name }
  else yield { ...core, resource: 'users', name: wanted.username }
  for (const name of wanted.groups) yield { ...core, resource: 'groups', name }
  const other = { ...core, group: authenticationGroup, version: 'v1' }
  for (const [subresource, names] of wanted.extra) {
    for (const name of names) yield { ...other, resource: 'userextras', subresource, name }
  }
  if (wanted.uid !== undefined) yield { ...other, resource: 'uids', name: wanted.uid }
}

function impersonatedUser({ username, uid, groups, extra }: RequestedUser): UserInfo {
  const account = accountOf(username)
  const own =
    account !== undefined && groups.length === 0
      ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
      : [...groups]
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: withVirtualGroup(username, own),
    ...(extra.size === 0 ? {} : { extra: extraOf(extra) }),
  }
}

/** Everybody is either authenticated or not, unless the request says which. */
function withVirtualGroup(username: string, groups: string[]): readonly string[] {
  if (username === anonymousUser) return groups.includes(unauthenticatedGroup) ? groups : [...groups, unauthenticatedGroup]
  return groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup) ? groups : [...groups, authenticatedGroup]
}

function extraOf(extra: ReadonlyMap<string, readonly string[]>): Record<string, readonly string[]> {
  const made: Record<string, readonly string[]> = {}
  // Keys are the client's: `__proto__` is one like any other.
  for (const [key, value] of extra)
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true })
  return made
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
