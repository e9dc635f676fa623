import type { FormerKind } from './interfaces.ts'
import { defaults, type Step } from './shape.ts'

/** CertificateSigningRequests: `v1` requires a signer, usages, and a status of each condition. */
const request: readonly Step[] = [
  defaults('spec', {
    signerName: 'kubernetes.io/legacy-unknown',
    usages: ['digital signature', 'key encipherment'],
  }),
  defaults('status.conditions[]', { status: 'True' }),
]

export const certificates: readonly FormerKind[] = [
  { group: 'certificates.k8s.io', kind: 'CertificateSigningRequest', hub: 'v1', versions: { v1beta1: request } },
]
