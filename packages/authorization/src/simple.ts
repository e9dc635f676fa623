import type { Attributes, Authorizer, Decision } from './interfaces.ts'

/** Lets everybody do everything. */
export const alwaysAllow: Authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) }

/** Refuses everything. */
export const alwaysDeny: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: 'Everything is forbidden.' }) }

/** The first authorizer with an opinion decides. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    async authorize(attributes) {
      const reasons: string[] = []
      for (const authorizer of authorizers) {
        const decision = await authorizer.authorize(attributes)
        if (decision.decision !== 'noOpinion') return decision
        if (decision.reason !== '') reasons.push(decision.reason)
      }
      return { decision: 'noOpinion', reason: reasons.join('\n') }
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
export const systemMasters: Authorizer = {
  authorize(attributes: Attributes): Decision {
    const { groups } = attributes.user
    if (groups.includes('system:masters')) return { decision: 'allow', reason: '' }
    const noOpinion: Decision = { decision: 'noOpinion', reason: '' }
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
}
