import type { Strategy } from '../../interfaces.ts'
import { certificateSigningRequestStrategy } from './certificate-signing-request.ts'

/** Policies of the group, by `group/Kind`. */
export const certificatesStrategies: Readonly<Record<string, Strategy>> = {
  'certificates.k8s.io/CertificateSigningRequest': certificateSigningRequestStrategy,
}
