import type { NamingProfile } from '@krmkit/meta'

/** What the signers that come with a server sign for. */
export type SignerPurpose = 'apiserverClient' | 'apiserverClientKubelet' | 'kubeletServing' | 'legacyUnknown'

/** In the order in which they are told to people. */
export const signerPurposes: readonly SignerPurpose[] = [
  'apiserverClient',
  'apiserverClientKubelet',
  'kubeletServing',
  'legacyUnknown',
]

/** Names of the built-in signers, as `spec.signerName` has them. @see API protocol specification, 2.10 */
export function builtInSigners({ domain }: Pick<NamingProfile, 'domain'>): Readonly<Record<SignerPurpose, string>> {
  return {
    apiserverClient: `${domain}/kube-apiserver-client`,
    apiserverClientKubelet: `${domain}/kube-apiserver-client-kubelet`,
    kubeletServing: `${domain}/kubelet-serving`,
    legacyUnknown: `${domain}/legacy-unknown`,
  }
}

/** Which of the built-in signers a name means. */
export function signerPurposeOf(signerName: string, profile: Pick<NamingProfile, 'domain'>): SignerPurpose | undefined {
  const names = builtInSigners(profile)
  return signerPurposes.find((purpose) => names[purpose] === signerName)
}
