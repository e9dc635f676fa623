/** Decides by roles and bindings. */

import type { NamingProfile } from '@krmkit/meta'
import type { Decision, ObjectFeed, StoredObject, SyncAuthorizer } from '../interfaces.ts'
import { aggregateRoles } from './aggregation.ts'
import { aggregated } from './describe.ts'
import { RbacPolicy } from './policy.ts'

export interface RbacOptions {
  /** Roles and bindings to begin with; others are passed over. Rules that ClusterRoles gather from others are gathered here. */
  readonly objects?: Iterable<StoredObject>
  readonly profile?: NamingProfile
  /** Called before every decision: brings `policy` up to date. */
  readonly catchUp?: () => void
}

export interface RbacAuthorizer extends SyncAuthorizer {
  /** What is decided by. Changes take effect with the next decision. */
  readonly policy: RbacPolicy
  /** Brings `policy` up to date. */
  catchUp(): void
}

const silent: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

/**
 * Decides by roles and bindings, without a server: over the objects of a folder, or whatever keeps `policy` up to date.
 *
 * Allows or has no opinion; it never denies. Reasons are those of the stock server.
 */
export function createRbacAuthorizer(options: RbacOptions = {}): RbacAuthorizer {
  const { profile, catchUp = () => undefined } = options
  const objects = aggregateRoles([...(options.objects ?? [])])
  return over(new RbacPolicy({ objects, ...(profile === undefined ? {} : { profile }) }), catchUp)
}

/** Decides by the roles and bindings of a feed, each of which is in force as soon as the feed knows it. */
export async function followRbac(feed: ObjectFeed, options: Pick<RbacOptions, 'profile'> = {}): Promise<RbacAuthorizer> {
  const { profile } = options
  const policy = new RbacPolicy(profile === undefined ? {} : { profile })
  const { group } = policy
  const kinds = [
    { resource: 'clusterroles', kind: 'ClusterRole' },
    { resource: 'roles', kind: 'Role' },
    { resource: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
    { resource: 'rolebindings', kind: 'RoleBinding' },
  ]
  const catchUps: (() => void)[] = []
  for (const { resource, kind } of kinds) {
    const catchUp = await feed.follow({ group, resource }, policy.partOf(kind))
    if (catchUp !== undefined) catchUps.push(catchUp)
  }
  return over(policy, () => {
    for (const catchUp of catchUps) catchUp()
  })
}

function over(policy: RbacPolicy, catchUp: () => void): RbacAuthorizer {
  return {
    policy,
    catchUp,
    authorize(attributes) {
      catchUp()
      const allowed = policy.find(attributes)
      if (allowed !== undefined) return allowed
      const errors = policy.errorsFor(attributes.user, attributes.namespace)
      return errors.length === 0 ? silent : { decision: 'noOpinion', reason: `RBAC: ${aggregated(errors)}` }
    },
    rulesFor(user, namespace) {
      catchUp()
      const rules = policy.heldRules(user, namespace).map(({ rule }) => rule)
      return {
        resourceRules: rules.filter(({ resources = [] }) => resources.length > 0),
        nonResourceRules: rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0),
        incomplete: false,
        errors: policy.errorsFor(user, namespace),
      }
    },
  }
}
