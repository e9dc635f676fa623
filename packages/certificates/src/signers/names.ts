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

/**
 * Values of `spec.signerName` for the built-in signers.
 *
 * @see API protocol specification, 2.10
 * @example
 * ```ts
 * import { builtInSigners } from '@krmkit/certificates'
 * import { stockProfile } from '@krmkit/meta'
 *
 * builtInSigners(stockProfile).apiserverClient // 'kubernetes.io/kube-apiserver-client'
 * ```
 */
export function builtInSigners({ domain }: Pick<NamingProfile, 'domain'>): Readonly<Record<SignerPurpose, string>> {
  return {
    apiserverClient: `${domain}/kube-apiserver-client`,
    apiserverClientKubelet: `${domain}/kube-apiserver-client-kubelet`,
    kubeletServing: `${domain}/kubelet-serving`,
    legacyUnknown: `${domain}/legacy-unknown`,
  }
}

/**
 * The purpose of a built-in signer name; undefined for other names.
 *
 * @example
 * ```ts
 * import { signerPurposeOf } from '@krmkit/certificates'
 * import { stockProfile } from '@krmkit/meta'
 *
 * signerPurposeOf('kubernetes.io/kubelet-serving', stockProfile) // 'kubeletServing'
 * ```
 */
export function signerPurposeOf(signerName: string, profile: Pick<NamingProfile, 'domain'>): SignerPurpose | undefined {
  const names = builtInSigners(profile)
  return signerPurposes.find((purpose) => names[purpose] === signerName)
}
