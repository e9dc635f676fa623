import type { NamingProfile } from '@krmkit/meta'
import type { CertificateRequest } from '../request/certificate-request.ts'
import { builtInSigners } from './names.ts'
import { type SignerRules, validateKubeletClientRequest } from './rules.ts'

/** A permission with which a request of the requester is approved automatically. */
export interface AutoApproval {
  /** Subresource of certificatesigningrequests that the requester must be allowed to `create`. */
  readonly subresource: 'selfnodeclient' | 'nodeclient'
  /** Message of the Approved condition. */
  readonly message: string
}

/** Reason of the Approved condition of automatic approvals. */
export const autoApprovedReason = 'AutoApproved'

/**
 * Returns the permissions that approve a request automatically, in the order of their checks; empty when the request needs
 * manual approval. Only kubelet client certificates qualify: when a node renews its certificate, or a user may add nodes.
 *
 * @see API protocol specification, 2.10
 * @example
 * ```ts
 * import { autoApprovalsFor, createCertificateRequest } from '@krmkit/certificates'
 * import { readCertificateRequest } from '@krmkit/certificates/request'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const pem = createCertificateRequest({ subject: { commonName: 'system:node:a', organizations: ['system:nodes'] } }).request
 * const signerName = 'kubernetes.io/kube-apiserver-client-kubelet'
 * const usages = ['digital signature', 'client auth']
 * const candidate = { request: readCertificateRequest(pem), signerName, usages, username: 'system:node:a' }
 * autoApprovalsFor(candidate, stockProfile).map(({ subresource }) => subresource) // ['selfnodeclient', 'nodeclient']
 * ```
 */
export function autoApprovalsFor(
  candidate: {
    readonly request: CertificateRequest
    readonly signerName: string
    readonly usages: readonly string[]
    /** `spec.username`, set by the API server. */
    readonly username: string
  },
  profile: Pick<NamingProfile, 'domain'>,
  rules: SignerRules = {},
): readonly AutoApproval[] {
  if (candidate.signerName !== builtInSigners(profile).apiserverClientKubelet) return []
  if (validateKubeletClientRequest(candidate, rules) !== undefined) return []
  const any = {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  } as const
  if (candidate.username !== candidate.request.subject.commonName) return [any]
  const own = {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  } as const
  return [own, any]
}
