import { CertificateError } from '../certificate-error.ts'
import { isSignedDetached, signDetached } from './detached-jws.ts'
import { type BootstrapToken, formatBootstrapToken } from './token.ts'

/** What signatures are made with. `token-secret` is what kubeadm checks with; `full-token` is the specification to the letter. */
export type BootstrapSigningKey = 'token-secret' | 'full-token'

export const bootstrapSigningKeys: readonly BootstrapSigningKey[] = ['token-secret', 'full-token']

/** Name of the ConfigMap in the public namespace that tells how to reach the cluster. */
export const clusterInfoName = 'cluster-info'
/** Its key with the kubeconfig that is signed. */
export const clusterInfoKey = 'kubeconfig'

const signaturePrefix = 'jws-kubeconfig-'
type Data = Readonly<Record<string, string>>

/**
 * The data of the ConfigMap with one signature for each token: those of other tokens go, other keys stay.
 *
 * @returns undefined when nothing is to change, or when there is no kubeconfig to sign.
 * @see API protocol specification, 2.11
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
 * The kubeconfig in the data of the ConfigMap, when somebody who knows the token has signed it. Any other signature is
 * passed over.
 *
 * @throws CertificateError `Unsigned` when there is no signature for the token (yet), `Untrusted` when it is not good.
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
    message: `the signature of ${clusterInfoName} for the token ${token.id} is not good: the token is wrong, or somebody has changed what it signs`,
  })
}

function signingKeyOf(token: BootstrapToken, key: BootstrapSigningKey = 'token-secret'): string {
  return key === 'full-token' ? formatBootstrapToken(token) : token.secret
}

function ownText(data: Data, key: string): string | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined
}
