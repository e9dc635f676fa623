import { createHash, X509Certificate } from 'node:crypto'
import { pemBlocks } from '@krmkit/base/pem'
import { CertificateError } from '../certificate-error.ts'

const pinForm = /^sha256:[0-9a-f]{64}$/i

/**
 * Computes the pin of a certificate: `sha256:` and the hexadecimal digest of its SubjectPublicKeyInfo.
 *
 * @see {@link checkPublicKeyPins} for an example.
 */
export function publicKeyPinOf(pem: string): string {
  return pinOf(parseCertificate(pem))
}

/**
 * Parses a pin and converts it to lower case.
 *
 * @throws CertificateError `InvalidPin`
 * @example
 * ```ts
 * import { parsePublicKeyPin } from '@krmkit/certificates/bootstrap'
 *
 * parsePublicKeyPin(`sha256:${'AB'.repeat(32)}`) === `sha256:${'ab'.repeat(32)}` // true
 * ```
 */
export function parsePublicKeyPin(text: string): string {
  if (pinForm.test(text)) return text.toLowerCase()
  throw new CertificateError({ code: 'InvalidPin', message: `${JSON.stringify(text)} is not sha256: and 64 hexadecimal digits` })
}

/**
 * Requires that every authority of a bundle is pinned.
 *
 * Differs: kubeadm accepts a bundle with one pinned authority; the unpinned ones could then issue certificates for any
 * server.
 *
 * @throws CertificateError `Untrusted` for an authority without a pin, or an empty bundle.
 * @example
 * ```ts
 * import { createSigningAuthority } from '@krmkit/certificates'
 * import { checkPublicKeyPins, publicKeyPinOf } from '@krmkit/certificates/bootstrap'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const { certificate } = await createSigningAuthority({ clock: systemClock, random: systemRandom })
 * checkPublicKeyPins(certificate, [publicKeyPinOf(certificate)]) // does not throw
 * checkPublicKeyPins(certificate, []) // throws CertificateError `Untrusted`
 * ```
 */
export function checkPublicKeyPins(bundle: string, pins: readonly string[]): void {
  const known = new Set(pins.map(parsePublicKeyPin))
  const found = readBundle(bundle).map((pem) => pinOf(parseCertificate(pem)))
  if (found.length === 0)
    throw new CertificateError({ code: 'Untrusted', message: 'the cluster information holds no certificate authority' })
  const foreign = found.find((pin) => !known.has(pin))
  if (foreign === undefined) return
  const message = `the certificate authority of the cluster has the public key ${foreign}, which is not pinned`
  throw new CertificateError({ code: 'Untrusted', message })
}

function readBundle(bundle: string): readonly string[] {
  try {
    return pemBlocks(bundle, 'CERTIFICATE')
  } catch (cause) {
    throw new CertificateError({ code: 'Untrusted', message: 'the certificate authorities of the cluster are malformed', cause })
  }
}

function pinOf(certificate: X509Certificate): string {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new CertificateError({ code: 'Untrusted', message: 'a certificate authority cannot be read', cause })
  }
}
