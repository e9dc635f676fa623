import type { KubeletOptions } from '@krmkit/apiserver'
import type { Clock } from '@krmkit/meta'
import { readAuthorities } from '../authentication/certificate-bundles.ts'
import { watchKeyPair } from '../watched-key-pair.ts'
import type { KubeletFlags } from './options.ts'

export type KubeletFromFlags = KubeletOptions & Disposable

/**
 * Creates the options of connections to kubelets that the flags configure.
 *
 * @throws CliError for a certificate without a key, a key without a certificate, or a file that cannot be used.
 */
export async function createKubelet(
  options: KubeletFlags,
  context: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): Promise<KubeletFromFlags> {
  const { kubeletCertificateAuthority, kubeletClientCertificate, kubeletClientKey, kubeletPreferredAddressTypes } = options
  const ca =
    kubeletCertificateAuthority === undefined
      ? undefined
      : await readAuthorities(kubeletCertificateAuthority, 'kubelet-certificate-authority')
  const identity = await watchKeyPair(
    {
      certificate: { flag: 'kubelet-client-certificate', path: kubeletClientCertificate },
      key: { flag: 'kubelet-client-key', path: kubeletClientKey },
    },
    context,
  )
  return {
    preferredAddressTypes: kubeletPreferredAddressTypes,
    ...(ca === undefined ? {} : { ca }),
    ...(identity === undefined ? {} : { identity: identity.now }),
    [Symbol.dispose]: () => identity?.[Symbol.dispose](),
  }
}
