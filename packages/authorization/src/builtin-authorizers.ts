import type { Attributes, Authorizer, Decision, PolicyRule, SubjectRules, SyncAuthorizer } from './interfaces.ts'

const everything: SubjectRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
  errors: [],
}
const nothing: SubjectRules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
const allowed: Decision = Object.freeze({ decision: 'allow', reason: '' })
const noOpinion: Decision = Object.freeze({ decision: 'noOpinion', reason: '' })

/** Allows every request. */
export const alwaysAllowAuthorizer: SyncAuthorizer = { authorize: () => allowed, rulesFor: () => everything }

/** Forbids every request. */
export const alwaysDenyAuthorizer: SyncAuthorizer = {
  authorize: () => ({ decision: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => nothing,
}

/**
 * Allows every request of these groups. It ensures that administrators can repair broken roles.
 *
 * @see {@link createUnionAuthorizer} for an example.
 */
export function createPrivilegedGroupsAuthorizer(groups: readonly string[] = ['system:masters']): Authorizer {
  return {
    authorize({ user }) {
      for (const group of groups) if (user.groups.includes(group)) return allowed
      return noOpinion
    },
  }
}

const publicPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/'])
const discoveryRoots = ['/api', '/apis', '/openapi', '/openid/v1', '/.well-known', '/healthz', '/livez', '/readyz', '/version']
const selfReviews = new Set(['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'selfsubjectreviews'])

/**
 * An authorizer without roles. It allows `system:masters` everything; authenticated users discovery, health, version and
 * self reviews; and anonymous users health and version.
 *
 * These are the permissions that the default roles of kube-apiserver grant to users without role bindings.
 */
export const systemMasters: SyncAuthorizer = {
  authorize(attributes: Attributes): Decision {
    const { groups } = attributes.user
    if (groups.includes('system:masters')) return allowed
    const authenticated = groups.includes('system:authenticated')
    if (attributes.isResource) {
      return authenticated && attributes.verb === 'create' && selfReviews.has(attributes.resource)
        ? { decision: 'allow', reason: 'self reviews are open to authenticated users' }
        : noOpinion
    }
    if (attributes.verb !== 'get') return noOpinion
    const { path } = attributes
    if (publicPaths.has(path)) return { decision: 'allow', reason: 'public information' }
    return authenticated && discoveryRoots.some((root) => path === root || path.startsWith(`${root}/`))
      ? { decision: 'allow', reason: 'discovery is open to authenticated users' }
      : noOpinion
  },
  rulesFor({ groups }) {
    if (groups.includes('system:masters')) return everything
    const open: PolicyRule = { verbs: ['get'], nonResourceURLs: [...publicPaths] }
    if (!groups.includes('system:authenticated')) return { ...nothing, nonResourceRules: [open] }
    return {
      ...nothing,
      resourceRules: [{ verbs: ['create'], apiGroups: ['*'], resources: [...selfReviews] }],
      nonResourceRules: [open, { verbs: ['get'], nonResourceURLs: discoveryRoots.flatMap((root) => [root, `${root}/*`]) }],
    }
  },
}
