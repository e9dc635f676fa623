/**
 * Privilege escalation prevention for roles and bindings: a user cannot grant permissions beyond their own, unless they may `escalate` or
 * `bind` the role.
 *
 * @see API protocol specification, 5.9
 */

import { createTurns, Pace, runPaced, type Turns } from '@krmkit/base/work'
import { ApiError, type NamingProfile, stockProfile, type UserInfo } from '@krmkit/meta'
import { aggregateMessages, goQuote } from '@krmkit/meta/go-text'
import { requirePathSegmentName } from '@krmkit/meta/names'
import type { Attributes, Authorizer, PolicyRule, StoredObject } from '../interfaces.ts'
import { coverage, covers, describeMissing } from './coverage.ts'
import { formatGoList } from './describe.ts'
import { readBinding, readRole } from './objects.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'

/** A write of a role or binding, with the object as it would be stored after admission. */
export interface RoleWrite {
  readonly user: UserInfo
  /** Plural resource name. */
  readonly resource: string
  readonly namespace: string
  /** Name in the request path; empty for create. */
  readonly name: string
  readonly object: StoredObject
  /** Absent for create. */
  readonly oldObject?: StoredObject | undefined
}

export interface EscalationGuardOptions {
  /** Authorizes `escalate` and `bind`. */
  readonly authorizer: Authorizer
  /** Provides the rules of users; called only if needed. */
  readonly rbac: () => RbacAuthorizer | Promise<RbacAuthorizer>
  readonly profile?: NamingProfile
  /** Yields to other work while many permissions are compared. */
  readonly turns?: Turns
}

/** Checks a write and rejects with an ApiError when it would escalate privileges. */
export type EscalationGuard = (write: RoleWrite) => Promise<void>

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/**
 * Creates the privilege escalation check of role and binding writes.
 *
 * @returns a function that rejects with an ApiError 403 for an escalation, or, for a binding by a user who may not `bind` the role, 404
 *   for a missing role and 400 for a name that no role can have.
 * @example
 * ```ts
 * import { createEscalationGuard, createRbacAuthorizer } from '@krmkit/authorization'
 *
 * const rbac = createRbacAuthorizer()
 * const guard = createEscalationGuard({ authorizer: rbac, rbac: () => rbac })
 * const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
 * const object = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'keys', namespace: 'shop' }, rules }
 * const jane = { username: 'jane', groups: [] }
 * await guard({ user: jane, resource: 'roles', namespace: 'shop', name: '', object }) // throws ApiError 403
 * ```
 */
export function createEscalationGuard(options: EscalationGuardOptions): EscalationGuard {
  const { authorizer, rbac, profile = stockProfile, turns = createTurns() } = options
  const group = `rbac.authorization.${profile.apiDomain}`

  const allows = async (
    asked: Pick<Attributes, 'user' | 'verb' | 'group' | 'resource' | 'namespace' | 'name'>,
  ): Promise<boolean> => {
    const rest = { isResource: true, version: '*', subresource: '', path: '' }
    return (await authorizer.authorize({ ...asked, ...rest })).decision === 'allow'
  }

  const requireCoverage = async (write: RoleWrite, wanted: readonly PolicyRule[]): Promise<void> => {
    const { user, resource, namespace, object } = write
    const held = await rbac()
    const { resourceRules, nonResourceRules } = held.rulesFor(user, namespace)
    const check = coverage([...resourceRules, ...nonResourceRules], wanted)
    const found = await runPaced(check, new Pace(turns))
    if (found.outcome === 'covered') return
    const subject = `user ${goQuote(user.username)} (groups=${formatGoList(user.groups)})`
    const problem =
      found.outcome === 'tooMany'
        ? `${subject} is attempting to grant more RBAC permissions than can be checked`
        : `${subject} is attempting to grant RBAC permissions not currently held:\n${describeMissing(found.missing)}`
    // As kube-apiserver, these errors name the resource of the request, not of the role.
    const errors = held.policy.errorsFor(user, namespace, resource)
    const resolution = errors.length === 0 ? '' : `; resolution errors: [${aggregateMessages(errors)}]`
    throw ApiError.forbidden({ group, resource }, object.metadata.name ?? '', problem + resolution)
  }

  const checkRole = async (write: RoleWrite): Promise<void> => {
    const { user, resource, namespace, name, object, oldObject } = write
    if (await allows({ user, verb: 'escalate', group, resource, namespace, name })) return
    if (changesOnlyCollectedFields(object, oldObject)) return
    await requireCoverage(write, readRole(object).rules)
    if (resource !== 'clusterroles' || (!isAggregated(object) && (oldObject === undefined || !isAggregated(oldObject)))) return
    const { resourceRules, nonResourceRules } = (await rbac()).rulesFor(user, namespace)
    if (covers([...resourceRules, ...nonResourceRules], everything).outcome === 'covered') return
    const detail = 'must have cluster-admin privileges to use the aggregationRule'
    throw ApiError.forbidden({ group, resource }, object.metadata.name ?? '', detail)
  }

  const checkBinding = async (write: RoleWrite): Promise<void> => {
    const { user, namespace, object, oldObject } = write
    if (oldObject !== undefined && changesOnlyCollectedFields(object, oldObject)) return
    const { roleRef } = readBinding(object)
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : roleRef.kind === 'Role' ? 'roles' : undefined
    // Validation rejects other kinds.
    if (resource === undefined) return
    // A reference to another group, which validation rejects, requires the permission to bind in that group.
    const asked = {
      user,
      verb: 'bind',
      group: roleRef.apiGroup === '' ? group : roleRef.apiGroup,
      resource,
      namespace,
      name: roleRef.name,
    }
    if (await allows(asked)) return
    if (resource === 'roles' && namespace === '') throw ApiError.badRequest('Namespace parameter required.')
    requireRoleName(roleRef.name)
    const held = await rbac()
    held.sync()
    const rules = held.policy.rulesOf(roleRef.kind, namespace, roleRef.name)
    // As kube-apiserver, reports the resource of the request, not of the role.
    if (rules === undefined) throw ApiError.notFound({ group, resource: write.resource }, roleRef.name)
    await requireCoverage(write, rules)
  }

  return async (write) => {
    if (write.user.groups.includes('system:masters')) return
    if (write.resource === 'roles' || write.resource === 'clusterroles') await checkRole(write)
    else if (write.resource === 'rolebindings' || write.resource === 'clusterrolebindings') await checkBinding(write)
  }
}

/** Rejects a role name that no role can have. @throws ApiError 400 */
function requireRoleName(name: string): void {
  if (name === '') throw ApiError.badRequest('Name parameter required.')
  requirePathSegmentName(name)
}

function isAggregated({ aggregationRule }: StoredObject): boolean {
  const rule = aggregationRule as { readonly clusterRoleSelectors?: readonly unknown[] } | null | undefined
  return (rule?.clusterRoleSelectors ?? []).length > 0
}

/** Whether an update changes only garbage collection fields, which grant nothing. */
function changesOnlyCollectedFields(object: StoredObject, oldObject: StoredObject | undefined): boolean {
  if (oldObject === undefined) return false
  return isSameJson(withoutCollectedFields(object), withoutCollectedFields(oldObject))
}

function withoutCollectedFields({ metadata, ...rest }: StoredObject): unknown {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, selfLink: _link, ...kept } = metadata
  return { ...rest, metadata: kept }
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(canonicalForm(a)) === JSON.stringify(canonicalForm(b))
}

/** Returns a canonical form for comparison: sorted members; null and empty lists count as absent. */
function canonicalForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalForm)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, each]) => each !== null && each !== undefined && !isEmpty(each))
  return members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([key, each]) => [key, canonicalForm(each)])
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
