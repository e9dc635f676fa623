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

/** Lets everybody do everything. */
export const alwaysAllow: SyncAuthorizer = { authorize: () => allowed, rulesFor: () => everything }

/** Refuses everything. */
export const alwaysDeny: SyncAuthorizer = {
  authorize: () => ({ decision: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => nothing,
}

/** Members of these groups may do everything, whatever roles say; the way into a server whose roles are broken. */
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
 * Group `system:masters` may do everything; every authenticated caller may read discovery, health and version and ask
 * about its own rights; anonymous callers may read health and version. Everything else is refused.
 *
 * This is what the default roles of a stock server grant to people without any role binding, and nothing more: use it
 * where roles are not needed.
 */
export const systemMasters: SyncAuthorizer = {
  authorize(attributes: Attributes): Decision {
    const { groups } = attributes.user
    if (groups.includes('system:masters')) return allowed
    const authenticated = groups.includes('system:authenticated')
    if (attributes.isResource) {
      return authenticated && attributes.verb === 'create' && selfReviews.has(attributes.resource)
        ? { decision: 'allow', reason: 'everybody may ask about their own rights' }
        : noOpinion
    }
    if (attributes.verb !== 'get') return noOpinion
    const { path } = attributes
    if (publicPaths.has(path)) return { decision: 'allow', reason: 'public information' }
    return authenticated && discoveryRoots.some((root) => path === root || path.startsWith(`${root}/`))
      ? { decision: 'allow', reason: 'discovery is open to authenticated callers' }
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
