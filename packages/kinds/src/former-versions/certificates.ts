import type { FormerKind } from './interfaces.ts'
import { defaults, type Rewrite, type Step, without } from './shape.ts'

/** CertificateSigningRequests: `v1` requires a signer, usages, and a status of each condition. */
const request: readonly Step[] = [
  defaults('spec', ({ domain }) => ({
    signerName: `${domain}/legacy-unknown`,
    usages: ['digital signature', 'key encipherment'],
  })),
  defaults('status.conditions[]', { status: 'True' }),
]

const keyMembers = ['pkixPublicKey', 'proofOfPossession']

/** PodCertificateRequests: `v1` takes the key from `stubPKCS10Request` only. */
const podRequestToHub: Rewrite = (spec, { lose }) => {
  for (const member of keyMembers)
    if (Object.hasOwn(spec, member)) lose(member, 'later versions have the key in stubPKCS10Request')
  return without(spec, ...keyMembers)
}

export const certificates: readonly FormerKind[] = [
  { group: 'certificates.k8s.io', kind: 'CertificateSigningRequest', hub: 'v1', versions: { v1beta1: request } },
  {
    group: 'certificates.k8s.io',
    kind: 'PodCertificateRequest',
    hub: 'v1',
    versions: { v1beta1: [{ at: 'spec', toHub: podRequestToHub }] },
  },
]
