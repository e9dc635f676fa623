/** Decides by roles and bindings. */

import type { NamingProfile } from '@krmkit/meta'
import type { Decision, ObjectInformer, StoredObject, SyncAuthorizer } from '../interfaces.ts'
import { aggregateRoles } from './aggregation.ts'
import { joinErrors } from './describe.ts'
import { RbacPolicy } from './policy.ts'

export interface RbacAuthorizerOptions {
  /** Roles and bindings to begin with; others are passed over. Rules that ClusterRoles gather from others are gathered here. */
  readonly objects?: Iterable<StoredObject>
  readonly profile?: NamingProfile
  /** Called before every decision: brings `policy` up to date. */
  readonly sync?: () => void
}

export interface RbacAuthorizer extends SyncAuthorizer {
  /** What is decided by. Changes take effect with the next decision. */
  readonly policy: RbacPolicy
  /** Brings `policy` up to date. */
  sync(): void
}

const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

/**
 * Decides by roles and bindings, without a server: over the objects of a folder, or whatever keeps `policy` up to date.
 *
 * Allows or has no opinion; it never denies. Reasons are those of the stock server.
 */
export function createRbacAuthorizer(options: RbacAuthorizerOptions = {}): RbacAuthorizer {
  const { profile, sync = () => undefined } = options
  const objects = aggregateRoles([...(options.objects ?? [])])
  return authorizerFor(new RbacPolicy({ objects, ...(profile === undefined ? {} : { profile }) }), sync)
}

/** Decides by the roles and bindings of a informer, each of which is in force as soon as the informer knows it. */
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
      sync()
      const allowed = policy.find(attributes)
      if (allowed !== undefined) return allowed
      const errors = policy.errorsFor(attributes.user, attributes.namespace)
      return errors.length === 0 ? noOpinion : { decision: 'noOpinion', reason: `RBAC: ${joinErrors(errors)}` }
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
