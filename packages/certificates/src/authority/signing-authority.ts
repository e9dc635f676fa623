import type { KeyObject } from 'node:crypto'
import { DerReader, tags } from '@krmkit/base/der'
import { CertificateError, readingDer } from '../certificate-error.ts'
import { publicKeyOf, readPrivateKey } from '../private-key.ts'
import { type CertificateInfo, certificatePemType, decodeCertificate } from '../request/certificate.ts'
import { extensionOids, extensionValue } from '../request/extensions.ts'
import { readPemBlocks } from '../request/pem.direct.ts'
import { isAuthorityCertificate } from '../request/trust-bundle.ts'

/** A certificate authority that can sign: CA certificate and private key. */
export interface SigningAuthority {
  /** PEM of the certificate, followed by its issuers if given. */
  readonly certificate: string
  readonly info: CertificateInfo
  readonly key: KeyObject
  /** Subject key identifier, which issued certificates contain as authority key identifier. */
  readonly keyIdentifier: Uint8Array | undefined
}

/**
 * Parses an authority from PEM texts; the first certificate is the signing certificate.
 *
 * @throws CertificateError `Malformed`; `UnusableAuthority` when the certificate is not a CA certificate or the key does not match it.
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises'
 * import { parseSigningAuthority } from '@krmkit/certificates'
 *
 * const [certificate, key] = await Promise.all([readFile('pki/ca.crt', 'utf8'), readFile('pki/ca.key', 'utf8')])
 * const authority = parseSigningAuthority({ certificate, key })
 * ```
 */
export function parseSigningAuthority(pair: { readonly certificate: string; readonly key: string }): SigningAuthority {
  const block = readPemBlocks(pair.certificate).find(({ type }) => type === certificatePemType)
  if (block === undefined) throw new CertificateError({ code: 'Malformed', message: 'the text holds no PEM certificate' })
  const info = decodeCertificate(block.bytes)
  const key = readPrivateKey(pair.key)
  if (!publicKeyOf(key).equals(info.publicKey.spki)) throw unusable('the key does not match the certificate')
  if (!isAuthorityCertificate(info)) throw unusable('the certificate is not a CA certificate (CA:TRUE)')
  if (!allowsCertificateSigning(extensionValue(info.extensions, extensionOids.keyUsage)))
    throw unusable('the certificate may not sign certificates (keyCertSign)')
  const identifier = extensionValue(info.extensions, extensionOids.subjectKeyIdentifier)
  return {
    certificate: pair.certificate,
    info,
    key,
    keyIdentifier:
      identifier && readingDer(() => new DerReader(identifier, 'subjectKeyIdentifier').next(tags.octetString).content),
  }
}

/** Whether keyUsage allows keyCertSign, its sixth bit. Without the extension every usage is allowed. */
function allowsCertificateSigning(value: Uint8Array | undefined): boolean {
  if (value === undefined) return true
  const { content } = readingDer(() => new DerReader(value, 'keyUsage').next(tags.bitString))
  return ((content[1] ?? 0) & 0x04) !== 0
}

function unusable(message: string): CertificateError {
  return new CertificateError({ code: 'UnusableAuthority', message })
}
