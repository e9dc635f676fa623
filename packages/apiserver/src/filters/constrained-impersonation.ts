/**
 * Constrained impersonation: a caller needs `impersonate:MODE` on the user, and `impersonate-on:MODE:VERB` on what the request does. The
 * modes that apply to a user are tried from the narrowest to the widest, and the verb `impersonate` last. The mode of the caller's last
 * successful impersonation is tried before them, so that its refusal is the one that the caller sees.
 *
 * Differs: kube-apiserver caches allowed impersonations for ten seconds, so that a withdrawn permission remains usable for as long; here
 * each request is authorized.
 */

import type { Attributes, Authorizer } from '@krmkit/authorization'
import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import { ApiError, type NamingProfile, nameRules, Path, type UserInfo } from '@krmkit/meta'
import { validateDomainPrefixedPath } from '@krmkit/meta/names'
import { formatFieldErrors } from '@krmkit/meta/validation'
import type { RequestContext } from '../request/context.ts'
import { attributesOf, forbidden } from './authorization.ts'
import { accountOf, impersonatedUser, impersonationChecks, type RequestedUser, withVirtualGroup } from './impersonated-user.ts'

/** Groups or values of extra from which on one check of all of them is tried first. */
const manyChecks = 4
const privilegedGroup = 'system:masters'
const nodePrefix = 'system:node:'

interface Wanted {
  readonly requested: RequestedUser
  readonly profile: NamingProfile
}

interface Mode extends Wanted {
  readonly authorizer: Authorizer
  readonly caller: UserInfo
  readonly name: ModeName
}

type ModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'

/** The mode of each caller's last successful impersonation, by username; `legacy` is the mode without constraints. */
export type LastModes = ByteBoundedCache<ModeName | typeof legacy>

const legacy = 'legacy'
const maxLastModeBytes = 1 << 20

export function createLastModes(): LastModes {
  return new ByteBoundedCache({ maxBytes: maxLastModeBytes })
}

/** An allowed impersonation. */
export interface Impersonation {
  /** The user as whom the request continues. */
  readonly user: UserInfo
  /** The verb `impersonate:MODE` of a mode with constraints, for audit events. */
  readonly constraint: string | undefined
}

/**
 * Impersonates in the first mode that allows the user.
 *
 * @throws ApiError 403 of the first mode that applies, where none allows the user.
 */
export async function constrainedUser(
  authorizer: Authorizer,
  context: RequestContext,
  { requested, profile, lastModes }: Wanted & { readonly lastModes: LastModes },
): Promise<Impersonation> {
  const caller = context.user
  let first: unknown
  for (const name of withFirst(modesOf(requested, caller, profile), lastModes.get(caller.username))) {
    try {
      const user =
        name === legacy
          ? await legacyUser({ authorizer, caller, requested, profile })
          : await userOfMode({ authorizer, caller, requested, profile, name }, attributesOf(context))
      lastModes.set(caller.username, name)
      return { user, constraint: name === legacy ? undefined : verbOf(name) }
    } catch (error) {
      if (!ApiError.is(error)) throw error
      first ??= error
    }
  }
  throw first
}

function withFirst<T>(values: readonly T[], first: T | undefined): readonly T[] {
  return first === undefined || !values.includes(first) ? values : [first, ...values.filter((value) => value !== first)]
}

function verbOf(mode: ModeName): string {
  return `impersonate:${mode}`
}

/** The modes that apply to a user. */
function modesOf(requested: RequestedUser, caller: UserInfo, profile: NamingProfile): readonly (ModeName | typeof legacy)[] {
  const { username, uid, groups, extra } = requested
  const isPlain = uid === undefined && groups.length === 0 && extra.size === 0
  const node = nodeOf(username)
  if (node !== undefined) {
    if (!isPlain) return [legacy]
    const own = caller.extra?.[`authentication.${profile.domain}/node-name`] ?? []
    const isOwn = accountOf(caller.username) !== undefined && own.length === 1 && own[0] === node
    return [...(isOwn ? (['associated-node'] as const) : []), 'arbitrary-node', legacy]
  }
  if (accountOf(username) !== undefined) return isPlain ? ['serviceaccount', legacy] : [legacy]
  return ['user-info', legacy]
}

async function legacyUser({ authorizer, caller, requested, profile }: Omit<Mode, 'name'>): Promise<UserInfo> {
  const authenticationGroup = `authentication.${profile.apiDomain}`
  const mode = { verb: 'impersonate', users: { group: '', version: 'v1' }, authenticationGroup }
  for (const attributes of impersonationChecks(caller, requested, mode)) await requireAuthorized(authorizer, attributes)
  return impersonatedUser(requested)
}

async function userOfMode(mode: Mode, request: Attributes): Promise<UserInfo> {
  const { authorizer, name, requested, profile } = mode
  const caller = name === 'associated-node' ? withoutExtra(mode.caller, profile) : mode.caller
  await requireAuthorized(authorizer, { ...request, user: caller, verb: `impersonate-on:${name}:${request.verb}` })
  const group = `authentication.${profile.apiDomain}`
  const verb = verbOf(name)
  const node = nodeOf(requested.username)
  const users = { group, version: 'v1' }
  const checks = [...impersonationChecks(caller, requested, { verb, users, authenticationGroup: group })]
  const [user, ...others] = checks
  if (user !== undefined && node !== undefined) {
    // A caller may impersonate the node of its pod, whatever the name.
    await requireAuthorized(authorizer, { ...user, resource: 'nodes', name: name === 'associated-node' ? '*' : node })
  } else if (user !== undefined) await requireAuthorized(authorizer, user)
  const of = (resource: string) => others.filter((each) => each.resource === resource)
  await requireAll(authorizer, of('uids'), false)
  refuseGroups(requested, of('groups')[0])
  await requireAll(authorizer, of('groups'), requested.groups.length >= manyChecks)
  refuseExtra(requested, caller, { verb, group })
  await requireAll(authorizer, of('userextras'), isLarge(requested.extra))
  if (node === undefined) return impersonatedUser(requested)
  return { username: requested.username, groups: withVirtualGroup(requested.username, ['system:nodes']) }
}

/** The caller of a request as the node of its pod: only the keys of its extra are known, so that the decision holds for all nodes. */
function withoutExtra(caller: UserInfo, { domain }: NamingProfile): UserInfo {
  const keys = Object.keys(caller.extra ?? {}).sort()
  return { ...caller, extra: { [`authentication.${domain}/associated-node-keys`]: keys } }
}

/** Checks each of some attributes, or first all of them at once. */
async function requireAll(authorizer: Authorizer, checks: readonly Attributes[], atOnce: boolean): Promise<void> {
  const [sample] = checks
  if (atOnce && sample !== undefined) {
    const subresource = sample.subresource === '' ? '' : '*'
    if ((await authorizer.authorize({ ...sample, subresource, name: '*' })).decision === 'allow') return
  }
  for (const attributes of checks) await requireAuthorized(authorizer, attributes)
}

async function requireAuthorized(authorizer: Authorizer, attributes: Attributes): Promise<void> {
  const { decision, reason, error } = await authorizer.authorize(attributes)
  if (decision === 'allow') return
  throw forbidden(attributes, error === undefined ? reason : reason === '' ? error : `${error}: ${reason}`)
}

function refuseGroups({ groups }: RequestedUser, attributes: Attributes | undefined): void {
  if (attributes === undefined) return
  const unnamed = { ...attributes, name: '' }
  if (groups.includes('')) throw forbidden(unnamed, 'impersonating the empty string group is not allowed')
  if (!groups.includes(privilegedGroup)) return
  throw forbidden({ ...unnamed, name: privilegedGroup }, `impersonating the ${privilegedGroup} group is not allowed`)
}

function refuseExtra(
  { extra }: RequestedUser,
  user: UserInfo,
  { verb, group }: { readonly verb: string; readonly group: string },
): void {
  for (const [key, values] of extra) {
    const problem = extraProblem(key, values)
    if (problem === undefined) continue
    const place = { subresource: '', namespace: '', name: '', path: '' }
    throw forbidden({ user, verb, isResource: true, group, version: 'v1', resource: 'userextras', ...place }, problem)
  }
}

function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed'
  const errors = validateDomainPrefixedPath(Path.of('extra').child('key'), key)
  if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${formatFieldErrors(errors)}`
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
  if (values.length === 0) return 'impersonating empty values in extra is not allowed'
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined
}

function isLarge(extra: RequestedUser['extra']): boolean {
  let count = 0
  for (const values of extra.values()) count += values.length
  return extra.size >= manyChecks || count >= manyChecks
}

/** The node of a username. */
function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodePrefix)) return undefined
  const name = username.slice(nodePrefix.length)
  return nameRules.dns1123Subdomain(name, false).length === 0 ? name : undefined
}
