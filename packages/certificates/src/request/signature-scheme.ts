import type { KeyObject } from 'node:crypto'
import { der, oid, sequence, tags } from '@krmkit/base/der'
import { CertificateError } from '../certificate-error.ts'

/**
 * Returns the hash and the DER of the AlgorithmIdentifier of signatures by a key.
 *
 * @throws CertificateError `UnusableAuthority` for unsupported key types.
 */
export function signatureSchemeOf(key: KeyObject): { readonly hash: string | null; readonly algorithm: Uint8Array } {
  const curve = key.asymmetricKeyDetails?.namedCurve
  if (key.asymmetricKeyType === 'rsa') {
    return { hash: 'sha256', algorithm: sequence(oid('1.2.840.113549.1.1.11'), der(tags.null)) }
  }
  if (key.asymmetricKeyType === 'ed25519') return { hash: null, algorithm: sequence(oid('1.3.101.112')) }
  if (curve === 'prime256v1') return { hash: 'sha256', algorithm: sequence(oid('1.2.840.10045.4.3.2')) }
  if (curve === 'secp384r1') return { hash: 'sha384', algorithm: sequence(oid('1.2.840.10045.4.3.3')) }
  if (curve === 'secp521r1') return { hash: 'sha512', algorithm: sequence(oid('1.2.840.10045.4.3.4')) }
  throw new CertificateError({ code: 'UnusableAuthority', message: 'the key type is not supported for signing' })
}
