/**
 * Reverse queries over roles and bindings: which subjects may perform a request, and why a user may or may not perform it.
 */

import type { UserInfo } from '@krmkit/meta'
import type { Attributes, PolicyRule, Subject } from '../interfaces.ts'
import { describeSubject, missingRoleMessage } from './describe.ts'
import type { BindingObject } from './objects.ts'
import { type RbacPolicy, subjectMatches } from './policy.ts'
import { ruleAllows } from './rule-match.ts'

/** A binding that allows a request, with the rule of its role. */
export interface AllowingBinding {
  readonly binding: BindingObject
  readonly rule: PolicyRule
  /** Index of `rule` in the role. */
  readonly ruleIndex: number
}

/** A subject that is allowed to perform a request. */
export interface AllowedSubject extends AllowingBinding {
  readonly subject: Subject
}

type AccessQuery = Omit<Attributes, 'user'>

const noUser: UserInfo = { username: '', groups: [] }

/**
 * Finds the subjects that may perform a request, one entry per binding and subject. An empty namespace queries the cluster scope, where
 * only ClusterRoleBindings apply.
 *
 * @example
 * ```ts
 * import { createRbacAuthorizer, explainAccess, formatSubject, whoCan } from '@krmkit/authorization'
 * import { bootstrapPolicy } from '@krmkit/authorization/bootstrap'
 *
 * const { clusterRoles, clusterRoleBindings } = bootstrapPolicy()
 * const { policy } = createRbacAuthorizer({ objects: [...clusterRoles, ...clusterRoleBindings] })
 * const names = { group: 'apps', version: 'v1', resource: 'deployments', subresource: '', namespace: '', name: '' }
 * const request = { ...names, verb: 'create', isResource: true, path: '' }
 * whoCan(policy, request).map(formatSubject) // ['Group "system:masters"']
 * explainAccess(policy, { ...request, user: { username: 'jane', groups: [] } }).allowed // false
 * ```
 */
export function whoCan(policy: RbacPolicy, query: AccessQuery): readonly AllowedSubject[] {
  return allowingBindings(policy, query).flatMap((found) => found.binding.subjects.map((subject) => ({ ...found, subject })))
}

/** The reasons why a user is allowed or not allowed to perform a request. */
export interface AccessExplanation {
  readonly allowed: boolean
  /** Bindings that allow the request to this user. */
  readonly grants: readonly AllowedSubject[]
  /** Bindings that allow the request to other subjects. */
  readonly others: readonly AllowedSubject[]
  /** Bindings of this user whose role does not allow the request, or does not exist. */
  readonly insufficient: readonly { readonly binding: BindingObject; readonly subject: Subject; readonly why: string }[]
}

/**
 * Explains the RBAC decision about a request.
 *
 * @see {@link whoCan} for an example.
 */
export function explainAccess(policy: RbacPolicy, attributes: Attributes): AccessExplanation {
  const { user, namespace } = attributes
  const allowed = whoCan(policy, attributes)
  const grants = allowed.filter(({ binding, subject }) => subjectMatches(subject, binding.namespace, user))
  const granting = new Set(grants.map(({ binding }) => binding))
  const insufficient = policy
    .bindings()
    .filter(({ binding }) => isInScope(binding, namespace) && !granting.has(binding))
    .flatMap(({ binding, role }) => {
      const subject = binding.subjects.find((each) => subjectMatches(each, binding.namespace, user))
      if (subject === undefined) return []
      const why = role.rules === undefined ? missingRoleMessage(role, policy.group) : 'no rule of the role allows it'
      return [{ binding, subject, why }]
    })
  const others = allowed.filter(({ binding }) => !granting.has(binding))
  return { allowed: grants.length > 0, grants, others, insufficient }
}

function allowingBindings(policy: RbacPolicy, query: AccessQuery): readonly AllowingBinding[] {
  const attributes: Attributes = { ...query, user: noUser }
  return policy.bindings().flatMap(({ binding, role }) => {
    if (!isInScope(binding, query.namespace)) return []
    const rules = role.rules ?? []
    const ruleIndex = rules.findIndex((rule) => ruleAllows(rule, attributes))
    return ruleIndex === -1 ? [] : [{ binding, rule: rules[ruleIndex]!, ruleIndex }]
  })
}

function isInScope({ kind, namespace }: BindingObject, queried: string): boolean {
  return kind === 'ClusterRoleBinding' || (queried !== '' && namespace === queried)
}

/**
 * Formats a subject: `User "jane"`, `ServiceAccount "name/namespace"`.
 *
 * @see {@link whoCan} for an example.
 */
export function formatSubject({ subject, binding }: Pick<AllowedSubject, 'subject' | 'binding'>): string {
  return describeSubject(subject, binding.namespace)
}
