import type { NamingProfile } from '@krmkit/meta'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { builtInSigners } from './names.ts'
import { validateKubeletClientRequest } from './rules.ts'

/** A right by which a request is approved without anybody looking at it. */
export interface AutoApproval {
  /** Sub-resource of requests that the requester must be allowed to `create`. */
  readonly subresource: 'selfnodeclient' | 'nodeclient'
  /** Message of the condition. */
  readonly message: string
}

/** `reason` of the condition of approvals that nobody looked at. */
export const autoApprovedReason = 'AutoApproved'

/**
 * By which rights a request may be approved at once, in the order in which they are tried; none: somebody has to look. Only client
 * certificates of nodes are: a node that renews its own, and whoever may bring in nodes.
 *
 * @see API protocol specification, 2.10
 */
export function autoApprovalsFor(
  asked: {
    readonly request: CertificateRequest
    readonly signerName: string
    readonly usages: readonly string[]
    /** `spec.username`, which the server has set. */
    readonly username: string
  },
  profile: Pick<NamingProfile, 'domain'>,
): readonly AutoApproval[] {
  if (asked.signerName !== builtInSigners(profile).apiserverClientKubelet) return []
  if (validateKubeletClientRequest(asked) !== undefined) return []
  const any = {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  } as const
  if (asked.username !== asked.request.subject.commonName) return [any]
  const own = {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  } as const
  return [own, any]
}
