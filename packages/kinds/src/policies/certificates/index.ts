import type { KindPolicy } from '../../interfaces.ts'
import { certificateSigningRequestPolicy } from './certificate-signing-request.ts'

/** Policies of the group, by `group/Kind`. */
export const certificatesPolicies: Readonly<Record<string, KindPolicy>> = {
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestPolicy,
}
