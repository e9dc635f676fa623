/** The user that a request impersonates, and what impersonating that user needs. */

import type { Attributes } from '@krmkit/authorization'
import type { UserInfo } from '@krmkit/meta'

const anonymousUser = 'system:anonymous'
const authenticatedGroup = 'system:authenticated'
const unauthenticatedGroup = 'system:unauthenticated'

/** The user that a request impersonates. */
export interface RequestedUser {
  readonly username: string
  readonly uid: string | undefined
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

/** How a user is impersonated. */
export interface ImpersonationMode {
  readonly verb: string
  /** Group and version of users, groups and service accounts. */
  readonly users: { readonly group: string; readonly version: string }
  /** Group of uids and extra. */
  readonly authenticationGroup: string
}

/** One authorization check per attribute: user or service account, groups, extra, uid. */
export function* impersonationChecks(
  caller: UserInfo,
  requested: RequestedUser,
  { verb, users, authenticationGroup }: ImpersonationMode,
): Generator<Attributes> {
  const core = {
    user: caller,
    verb,
    isResource: true,
    ...users,
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

/** The user as whom the request continues. */
export function impersonatedUser({ username, uid, groups, extra }: RequestedUser): UserInfo {
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
export function withVirtualGroup(username: string, groups: string[]): readonly string[] {
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

/** The service account of a username. */
export function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!username.startsWith(accountPrefix)) return undefined
  const parts = username.slice(accountPrefix.length).split(':')
  const [namespace = '', name = ''] = parts
  return parts.length === 2 && label.test(namespace) && name.length <= 253 && subdomain.test(name)
    ? { namespace, name }
    : undefined
}
