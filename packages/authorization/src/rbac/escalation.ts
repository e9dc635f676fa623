/**
 * Who may write roles and bindings: nobody hands out rights that they do not hold, unless they may `escalate` the role or `bind` it.
 *
 * @see API protocol specification, 5.9
 */

import {
  ApiError,
  createSliceScheduler,
  goQuote,
  type NamingProfile,
  runInSlices,
  type SliceScheduler,
  Slices,
  stockProfile,
  type UserInfo,
} from '@krmkit/meta'
import type { Attributes, Authorizer, PolicyRule, StoredObject } from '../interfaces.ts'
import { coverage, covers, describeMissing } from './coverage.ts'
import { formatGoList } from './describe.ts'
import { readBinding, readRole } from './objects.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'

/** A role or binding as it would be stored, changes by admission included. */
export interface RoleWrite {
  readonly user: UserInfo
  /** Plural of the resource. */
  readonly resource: string
  readonly namespace: string
  /** Name in the path: empty for POST. */
  readonly name: string
  readonly object: StoredObject
  /** Absent when it is made. */
  readonly oldObject?: StoredObject | undefined
}

export interface EscalationGuardOptions {
  /** Asked for `escalate` and `bind`. */
  readonly authorizer: Authorizer
  /** Where the rights that somebody holds are found. Asked for when they matter. */
  readonly rbac: () => RbacAuthorizer | Promise<RbacAuthorizer>
  readonly profile?: NamingProfile
  /** Lets others in between while many rights are compared. */
  readonly scheduler?: SliceScheduler
}

/** Refuses a write by throwing; @see `escalationGuard`. */
export type EscalationGuard = (write: RoleWrite) => Promise<void>

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/**
 * @returns a function that refuses escalation by throwing an ApiError: 403, or 404 for a binding to a role that does not exist by somebody
 *   who may not bind it whatever it will be.
 */
export function createEscalationGuard(options: EscalationGuardOptions): EscalationGuard {
  const { authorizer, rbac, profile = stockProfile, scheduler = createSliceScheduler() } = options
  const group = `rbac.authorization.${profile.apiDomain}`

  const allows = async (attributes: Pick<Attributes, 'user' | 'verb' | 'resource' | 'namespace' | 'name'>): Promise<boolean> => {
    const rest = { isResource: true, group, version: '*', subresource: '', path: '' }
    return (await authorizer.authorize({ ...attributes, ...rest })).decision === 'allow'
  }

  const refuseBeyond = async (write: RoleWrite, wanted: readonly PolicyRule[]): Promise<void> => {
    const { user, resource, namespace, object } = write
    const { resourceRules, nonResourceRules, errors } = (await rbac()).rulesFor(user, namespace)
    const check = coverage([...resourceRules, ...nonResourceRules], wanted)
    const found = await runInSlices(check, new Slices(scheduler))
    if (found.outcome === 'covered') return
    const who = `user ${goQuote(user.username)} (groups=${formatGoList(user.groups)})`
    const what =
      found.outcome === 'tooMany'
        ? `${who} is attempting to grant more RBAC permissions than can be checked`
        : `${who} is attempting to grant RBAC permissions not currently held:\n${describeMissing(found.missing)}`
    const resolution = errors.length === 0 ? '' : `; resolution errors: [${errors.join(', ')}]`
    throw ApiError.forbidden({ group, resource }, object.metadata.name ?? '', what + resolution)
  }

  const guardRole = async (write: RoleWrite): Promise<void> => {
    const { user, resource, namespace, name, object, oldObject } = write
    if (await allows({ user, verb: 'escalate', resource, namespace, name })) return
    if (changesOnlyCollectedFields(object, oldObject)) return
    await refuseBeyond(write, readRole(object).rules)
    if (resource !== 'clusterroles' || (!isAggregated(object) && (oldObject === undefined || !isAggregated(oldObject)))) return
    const { resourceRules, nonResourceRules } = (await rbac()).rulesFor(user, namespace)
    if (covers([...resourceRules, ...nonResourceRules], everything).outcome === 'covered') return
    const detail = 'must have cluster-admin privileges to use the aggregationRule'
    throw ApiError.forbidden({ group, resource }, object.metadata.name ?? '', detail)
  }

  const guardBinding = async (write: RoleWrite): Promise<void> => {
    const { user, namespace, object, oldObject } = write
    if (oldObject !== undefined && changesOnlyCollectedFields(object, oldObject)) return
    const { roleRef } = readBinding(object)
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : roleRef.kind === 'Role' ? 'roles' : undefined
    // Validation refuses what is neither.
    if (resource === undefined || (resource === 'roles' && namespace === '')) return
    if (await allows({ user, verb: 'bind', resource, namespace, name: roleRef.name })) return
    const held = await rbac()
    held.sync()
    const rules = held.policy.rulesOf(roleRef.kind, namespace, roleRef.name)
    // The stock server names the resource of the request here.
    if (rules === undefined) throw ApiError.notFound({ group, resource: write.resource }, roleRef.name)
    await refuseBeyond(write, rules)
  }

  return async (write) => {
    if (write.user.groups.includes('system:masters')) return
    if (write.resource === 'roles' || write.resource === 'clusterroles') await guardRole(write)
    else if (write.resource === 'rolebindings' || write.resource === 'clusterrolebindings') await guardBinding(write)
  }
}

function isAggregated({ aggregationRule }: StoredObject): boolean {
  const rule = aggregationRule as { readonly clusterRoleSelectors?: readonly unknown[] } | null | undefined
  return (rule?.clusterRoleSelectors ?? []).length > 0
}

/** An update that changes only what garbage collection needs grants nothing. */
function changesOnlyCollectedFields(object: StoredObject, oldObject: StoredObject | undefined): boolean {
  if (oldObject === undefined) return false
  return sameText(withoutCollectedFields(object), withoutCollectedFields(oldObject))
}

function withoutCollectedFields({ metadata, ...rest }: StoredObject): unknown {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, selfLink: _link, ...kept } = metadata
  return { ...rest, metadata: kept }
}

function sameText(a: unknown, b: unknown): boolean {
  return JSON.stringify(canonicalForm(a)) === JSON.stringify(canonicalForm(b))
}

/** Members by name; what is null or empty counts as absent. */
function canonicalForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalForm)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, each]) => each !== null && each !== undefined && !isEmpty(each))
  return members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([key, each]) => [key, canonicalForm(each)])
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
