import type { NamingProfile } from '@krmkit/meta'

/** Purpose of a built-in signer. */
export type SignerPurpose = 'apiserverClient' | 'apiserverClientKubelet' | 'kubeletServing' | 'legacyUnknown'

/** All purposes, in display order. */
export const signerPurposes: readonly SignerPurpose[] = [
  'apiserverClient',
  'apiserverClientKubelet',
  'kubeletServing',
  'legacyUnknown',
]

/** Values of `spec.signerName` for the built-in signers. @see API protocol specification, 2.10 */
export function builtInSigners({ domain }: Pick<NamingProfile, 'domain'>): Readonly<Record<SignerPurpose, string>> {
  return {
    apiserverClient: `${domain}/kube-apiserver-client`,
    apiserverClientKubelet: `${domain}/kube-apiserver-client-kubelet`,
    kubeletServing: `${domain}/kubelet-serving`,
    legacyUnknown: `${domain}/legacy-unknown`,
  }
}

/** The purpose of a built-in signer name; undefined for other names. */
export function signerPurposeOf(signerName: string, profile: Pick<NamingProfile, 'domain'>): SignerPurpose | undefined {
  const names = builtInSigners(profile)
  return signerPurposes.find((purpose) => names[purpose] === signerName)
}
