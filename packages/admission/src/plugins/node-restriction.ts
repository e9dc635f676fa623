import { type Authorizer, alwaysDeny } from '@krmkit/authorization'
import type { NamingProfile, UserInfo } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import type { NodeRequest } from '../node-restriction/node-request.ts'
import { checkNode } from '../node-restriction/nodes.ts'
import {
  checkClaim,
  checkCsiNode,
  checkLease,
  checkResourceSlice,
  checkSigningRequest,
  checkToken,
} from '../node-restriction/others.ts'
import { checkPod } from '../node-restriction/pods.ts'
import { forbidden } from '../refusals.ts'

export interface NodeRestrictionOptions {
  readonly profile: NamingProfile
  /** Tokens are only for audiences that the pod's volumes name (gate `ServiceAccountNodeAudienceRestriction`). Default true. */
  readonly checkAudiences?: boolean
  /** Asked about the right to further audiences. Default: nobody has it. */
  readonly authorizer?: Authorizer
}

/**
 * A node agent (user `system:node:<name>` of group `system:nodes`) writes its own Node and what belongs to it, and pods that run there.
 *
 * @see API protocol specification, 5.10
 */
export function nodeRestriction({
  profile,
  checkAudiences = true,
  authorizer = alwaysDeny,
}: NodeRestrictionOptions): AdmissionPlugin {
  const { apiDomain } = profile
  const checks = new Map<string, (request: NodeRequest) => void | Promise<void>>([
    ['/pods', checkPod],
    ['/nodes', checkNode],
    ['/persistentvolumeclaims', checkClaim],
    ['/serviceaccounts', checkToken],
    [`coordination.${apiDomain}/leases`, checkLease],
    [`storage.${apiDomain}/csinodes`, checkCsiNode],
    [`resource.${apiDomain}/resourceslices`, checkResourceSlice],
    [`certificates.${apiDomain}/certificatesigningrequests`, checkSigningRequest],
  ])
  const checkOf = ({ group, resource }: { group: string; resource: string }) => checks.get(`${group}/${resource}`)
  return {
    name: 'NodeRestriction',
    handles: ({ operation, resource }) => operation !== 'CONNECT' && checkOf(resource) !== undefined,
    check(attributes, { reader }, object) {
      const node = nodeOf(attributes.user)
      if (node === undefined) return
      if (node === '') {
        const detail = `could not determine node from user ${JSON.stringify(attributes.user.username)}`
        throw forbidden(attributes, object, detail)
      }
      return checkOf(attributes.resource)?.({ node, attributes, object, reader, profile, checkAudiences, authorizer })
    },
  }
}

const prefix = 'system:node:'

/** The node that a user is the agent of; undefined for everybody else. */
function nodeOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(prefix) && groups.includes('system:nodes') ? username.slice(prefix.length) : undefined
}
