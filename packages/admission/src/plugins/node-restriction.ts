import { type Authorizer, alwaysDenyAuthorizer } from '@krmkit/authorization'
import type { NamingProfile, UserInfo } from '@krmkit/meta'
import type { AdmissionPlugin } from '../interfaces.ts'
import { checkCsiNode } from '../node-restriction/csi-nodes.ts'
import { checkLease } from '../node-restriction/leases.ts'
import type { NodeRequest } from '../node-restriction/node-request.ts'
import { checkNode } from '../node-restriction/nodes.ts'
import { checkClaim } from '../node-restriction/persistent-volume-claims.ts'
import { checkPod } from '../node-restriction/pods.ts'
import { checkResourceSlice } from '../node-restriction/resource-slices.ts'
import { checkToken } from '../node-restriction/service-account-tokens.ts'
import { checkSigningRequest } from '../node-restriction/signing-requests.ts'
import { forbidden } from '../refusals.ts'

export interface NodeRestrictionOptions {
  readonly profile: NamingProfile
  /** Restricts tokens to audiences that the pod's volumes name (gate `ServiceAccountNodeAudienceRestriction`). Default true. */
  readonly checkAudiences?: boolean
  /** Lets kubelets request certificates for any subject (gate `AllowInsecureKubeletCertificateSigningRequests`). Default false. */
  readonly anyCertificateSubject?: boolean
  /** Lets kubelets report the recovery of failed volume expansions (gate `RecoverVolumeExpansionFailure`). Default true. */
  readonly recoverExpansion?: boolean
  /** Authorizes further audiences. Default: denies. */
  readonly authorizer?: Authorizer
}

/**
 * Limits kubelets (user `system:node:<name>` of group `system:nodes`) to their own Node, the objects that belong to it, and the pods
 * bound to it.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { nodeRestriction } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const kind = { group: '', version: 'v1', kind: 'Node' }
 * const resource = { group: '', version: 'v1', resource: 'nodes' }
 * const user = { username: 'system:node:a', groups: ['system:nodes'] }
 * const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } }
 * const plugins = [nodeRestriction({ profile: stockProfile })]
 * const { status } = await admit({ kind, resource, user, object }, plugins, new ObjectSet())
 * status?.message // 'nodes "b" is forbidden: node "a" is not allowed to modify node "b"'
 * ```
 */
export function nodeRestriction({
  profile,
  checkAudiences = true,
  recoverExpansion = true,
  anyCertificateSubject = false,
  authorizer = alwaysDenyAuthorizer,
}: NodeRestrictionOptions): AdmissionPlugin {
  const { apiDomain } = profile
  const checks = new Map<string, (request: NodeRequest) => void | Promise<void>>([
    ['/pods', checkPod],
    ['/nodes', checkNode],
    ['/persistentvolumeclaims', (request) => checkClaim(request, recoverExpansion)],
    ['/serviceaccounts', checkToken],
    [`coordination.${apiDomain}/leases`, checkLease],
    [`storage.${apiDomain}/csinodes`, checkCsiNode],
    [`resource.${apiDomain}/resourceslices`, checkResourceSlice],
    [`certificates.${apiDomain}/certificatesigningrequests`, (request) => checkSigningRequest(request, anyCertificateSubject)],
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

/** The node of a kubelet's user; undefined for other users. */
function nodeOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(prefix) && groups.includes('system:nodes') ? username.slice(prefix.length) : undefined
}
