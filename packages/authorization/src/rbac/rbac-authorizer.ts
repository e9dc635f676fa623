/** The RBAC authorizer: decides by roles and bindings. */

import { type OptionKinds, optionsProblem } from '@krmkit/base/arguments'
import type { NamingProfile } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import { invalidArgument, requireUser } from '../arguments.ts'
import type { Decision, ObjectInformer, StoredObject, SyncAuthorizer } from '../interfaces.ts'
import { aggregateRoles } from './aggregation.ts'
import { isStoredObject, RbacPolicy } from './policy.ts'

export interface RbacAuthorizerOptions {
  /** Initial roles and bindings; other kinds are ignored. Aggregation rules of ClusterRoles are resolved. */
  readonly objects?: Iterable<StoredObject>
  readonly profile?: NamingProfile
  /** Called before every decision, to update `policy`. */
  readonly sync?: () => void
}

export interface RbacAuthorizer extends SyncAuthorizer {
  /** The policy that decisions are based on. Changes take effect with the next decision. */
  readonly policy: RbacPolicy
  /** Updates `policy` with pending changes. */
  sync(): void
}

const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

const optionKinds: OptionKinds<RbacAuthorizerOptions> = { objects: 'any', profile: 'object', sync: 'function' }

/**
 * Creates an RBAC authorizer over given objects; it needs no server. It allows or has no opinion, and never denies. Reasons are worded as
 * by kube-apiserver.
 *
 * @example
 * ```ts
 * import { createRbacAuthorizer } from '@krmkit/authorization'
 *
 * const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'probes' } }
 * const roleRef = { kind: 'ClusterRole', name: 'probes' }
 * const { authorize } = createRbacAuthorizer({
 *   objects: [
 *     { ...rbac, kind: 'ClusterRole', rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
 *     { ...rbac, kind: 'ClusterRoleBinding', roleRef, subjects: [{ kind: 'User', name: 'jane' }] },
 *   ],
 * })
 * const request = { isResource: false, group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
 * authorize({ ...request, user: { username: 'jane', groups: [] }, verb: 'get', path: '/metrics' }).reason
 * // 'RBAC: allowed by ClusterRoleBinding "probes" of ClusterRole "probes" to User "jane"'
 * ```
 */
export function createRbacAuthorizer(options: RbacAuthorizerOptions = {}): RbacAuthorizer {
  const problem = optionsProblem(options, { what: 'createRbacAuthorizer', kinds: optionKinds, example: '{ objects }' })
  if (problem !== undefined) throw invalidArgument(problem)
  const { profile, sync = () => undefined, objects: given = [] } = options
  const objects = aggregateRoles([...given].filter(isStoredObject))
  return authorizerFor(new RbacPolicy({ objects, ...(profile === undefined ? {} : { profile }) }), sync)
}

/**
 * Creates an RBAC authorizer that follows roles and bindings; changes apply as soon as the informer delivers them.
 *
 * @example
 * ```ts
 * import { createRbacAuthorizerFromInformer, type ObjectInformer } from '@krmkit/authorization'
 *
 * const binding = {
 *   ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'admins' } },
 *   ...{ roleRef: { kind: 'ClusterRole', name: 'cluster-admin' }, subjects: [{ kind: 'User', name: 'jane' }] },
 * }
 * const informer: ObjectInformer = {
 *   async follow({ resource }, handler) {
 *     if (resource === 'clusterrolebindings') handler.put(binding)
 *     return () => undefined
 *   },
 * }
 * const { policy } = await createRbacAuthorizerFromInformer(informer)
 * policy.bindings().length // 1
 * ```
 */
export async function createRbacAuthorizerFromInformer(
  informer: ObjectInformer,
  options: Pick<RbacAuthorizerOptions, 'profile'> = {},
): Promise<RbacAuthorizer> {
  const { profile } = options
  const policy = new RbacPolicy(profile === undefined ? {} : { profile })
  const { group } = policy
  const kinds = [
    { resource: 'clusterroles', kind: 'ClusterRole' },
    { resource: 'roles', kind: 'Role' },
    { resource: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
    { resource: 'rolebindings', kind: 'RoleBinding' },
  ]
  const syncs: (() => void)[] = []
  for (const { resource, kind } of kinds) {
    const sync = await informer.follow({ group, resource }, policy.handlerFor(kind))
    if (sync !== undefined) syncs.push(sync)
  }
  return authorizerFor(policy, () => {
    for (const sync of syncs) sync()
  })
}

function authorizerFor(policy: RbacPolicy, sync: () => void): RbacAuthorizer {
  return {
    policy,
    sync,
    authorize(attributes) {
      requireUser(attributes)
      sync()
      const allowed = policy.find(attributes)
      if (allowed !== undefined) return allowed
      const errors = policy.errorsFor(attributes.user, attributes.namespace)
      return errors.length === 0 ? noOpinion : { decision: 'noOpinion', reason: `RBAC: ${aggregateMessages(errors)}` }
    },
    rulesFor(user, namespace) {
      sync()
      const rules = policy.rulesFor(user, namespace).map(({ rule }) => rule)
      return {
        resourceRules: rules.filter(({ resources = [] }) => resources.length > 0),
        nonResourceRules: rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0),
        incomplete: false,
        errors: policy.errorsFor(user, namespace),
      }
    },
  }
}
