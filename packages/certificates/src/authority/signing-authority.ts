import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { CertificateError } from '../certificate-error.ts'
import { DerReader, tags } from '../der/reader.ts'
import { type CertificateInfo, certificatePemType, decodeCertificate } from '../request/certificate.ts'
import { readPemBlocks } from '../request/pem.ts'
import { isAuthorityCertificate } from '../request/trust-bundle.ts'

/** An authority that can sign: its certificate and the key of it. */
export interface SigningAuthority {
  /** PEM of the certificate, and of those above it when they were given. */
  readonly certificate: string
  readonly info: CertificateInfo
  readonly key: KeyObject
  /** What certificates name the key of their issuer by. */
  readonly keyIdentifier: Uint8Array | undefined
}

const subjectKeyIdentifier = '2.5.29.14'
const keyUsage = '2.5.29.15'

/**
 * Makes an authority of PEM texts; the first certificate counts.
 *
 * @throws CertificateError `Malformed`; `UnusableAuthority` when the certificate is not that of an authority, or the key is another.
 */
export function parseSigningAuthority(pair: { readonly certificate: string; readonly key: string }): SigningAuthority {
  const block = readPemBlocks(pair.certificate).find(({ type }) => type === certificatePemType)
  if (block === undefined) throw new CertificateError({ code: 'Malformed', message: 'there is no certificate in PEM' })
  const info = decodeCertificate(block.bytes)
  const key = readKey(pair.key)
  const ownSpki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  if (!ownSpki.equals(info.publicKey.spki)) throw unusable('the key is not that of the certificate')
  const extensionValue = (oid: string) => info.extensions.find((extension) => extension.oid === oid)?.value
  if (!isAuthorityCertificate(info)) throw unusable('the certificate is not that of an authority (CA:TRUE)')
  if (!allowsCertificateSigning(extensionValue(keyUsage)))
    throw unusable('the certificate may not sign certificates (keyCertSign)')
  const identifier = extensionValue(subjectKeyIdentifier)
  return {
    certificate: pair.certificate,
    info,
    key,
    keyIdentifier: identifier && new DerReader(identifier, 'subjectKeyIdentifier').next(tags.octetString).content,
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new CertificateError({ code: 'Malformed', message: 'the key is no private key in PEM', cause })
  }
}

/** The sixth bit; without the extension everything is allowed. */
function allowsCertificateSigning(value: Uint8Array | undefined): boolean {
  if (value === undefined) return true
  const { content } = new DerReader(value, 'keyUsage').next(tags.bitString)
  return ((content[1] ?? 0) & 0x04) !== 0
}

function unusable(message: string): CertificateError {
  return new CertificateError({ code: 'UnusableAuthority', message })
}
