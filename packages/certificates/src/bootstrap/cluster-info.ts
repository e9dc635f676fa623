import { CertificateError } from '../certificate-error.ts'
import { isSignedDetached, signDetached } from './detached-jws.ts'
import { type BootstrapToken, formatBootstrapToken } from './token.ts'

/**
 * The part of a token that is the signing key. kubeadm verifies with `token-secret`; `full-token` follows the specification
 * literally.
 */
export type BootstrapSigningKey = 'token-secret' | 'full-token'

export const bootstrapSigningKeys: readonly BootstrapSigningKey[] = ['token-secret', 'full-token']

/** Name of the ConfigMap with the cluster information, in the public namespace. */
export const clusterInfoName = 'cluster-info'
/** Key of the signed kubeconfig in the ConfigMap. */
export const clusterInfoKey = 'kubeconfig'

const signaturePrefix = 'jws-kubeconfig-'
type Data = Readonly<Record<string, string>>

/**
 * Signs the data of the ConfigMap with each token, removes signatures of other tokens, and keeps other keys.
 *
 * @returns the new data; undefined when nothing changes, or without a kubeconfig.
 * @see API protocol specification, 2.11
 * @example
 * ```ts
 * import { generateBootstrapToken, signClusterInfo, verifyClusterInfo } from '@krmkit/certificates/bootstrap'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const token = generateBootstrapToken(systemRandom)
 * const signed = await signClusterInfo({ kubeconfig: 'apiVersion: v1\nkind: Config\n' }, [token])
 * await verifyClusterInfo(signed ?? {}, token) // 'apiVersion: v1\nkind: Config\n'
 * ```
 */
export async function signClusterInfo(
  data: Data,
  tokens: readonly BootstrapToken[],
  options: { readonly key?: BootstrapSigningKey } = {},
): Promise<Record<string, string> | undefined> {
  const kubeconfig = ownText(data, clusterInfoKey)
  if (kubeconfig === undefined) return undefined
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix))
  const signatures = await Promise.all(
    tokens.map(async (token): Promise<[string, string]> => {
      const key = signingKeyOf(token, options.key)
      return [`${signaturePrefix}${token.id}`, await signDetached(kubeconfig, { keyId: token.id, key })]
    }),
  )
  const signed = Object.fromEntries([...others, ...signatures])
  const isSame =
    Object.keys(signed).length === Object.keys(data).length && signatures.every(([key, text]) => ownText(data, key) === text)
  return isSame ? undefined : signed
}

/**
 * Verifies the signature of the token on the data of the ConfigMap; other signatures are ignored.
 *
 * @returns the kubeconfig.
 * @throws CertificateError `Unsigned` when the token has no signature yet, `Untrusted` when its signature is invalid.
 * @see {@link signClusterInfo} for an example.
 */
export async function verifyClusterInfo(
  data: Data,
  token: BootstrapToken,
  options: { readonly key?: BootstrapSigningKey } = {},
): Promise<string> {
  const kubeconfig = ownText(data, clusterInfoKey)
  const signature = ownText(data, `${signaturePrefix}${token.id}`)
  if (kubeconfig === undefined || signature === undefined) {
    const what = kubeconfig === undefined ? 'holds no kubeconfig' : `is not signed for the token ${token.id}`
    throw new CertificateError({ code: 'Unsigned', message: `${clusterInfoName} ${what}` })
  }
  if (await isSignedDetached(kubeconfig, signature, { keyId: token.id, key: signingKeyOf(token, options.key) })) return kubeconfig
  throw new CertificateError({
    code: 'Untrusted',
    message: `the signature of ${clusterInfoName} for the token ${token.id} is invalid: the token is wrong, or the data was modified`,
  })
}

function signingKeyOf(token: BootstrapToken, key: BootstrapSigningKey = 'token-secret'): string {
  return key === 'full-token' ? formatBootstrapToken(token) : token.secret
}

function ownText(data: Data, key: string): string | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined
}
