import { type KeyObject, sign } from 'node:crypto'
import { bitString, boolean, der, integer, octetString, oid, sequence, time, writePem } from '@krmkit/base/der'
import { certificatePemType } from './certificate.ts'
import type { Extension } from './extensions.ts'
import { signatureSchemeOf } from './signature-scheme.ts'

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** At least 8 unpredictable bytes. */
  readonly serial: Uint8Array
}

export interface CertificateToWrite extends Validity {
  /** DER of the names. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  /** DER of SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly extensions: readonly Extension[]
}

/**
 * Writes a version 3 certificate signed by `key`, in PEM.
 *
 * @throws CertificateError `UnusableAuthority` for unsupported key types
 * @see RFC 5280, 4.1
 */
export function writeCertificate(key: KeyObject, certificate: CertificateToWrite): string {
  const scheme = signatureSchemeOf(key)
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serialOf(certificate.serial)),
    scheme.algorithm,
    certificate.issuer,
    sequence(time(certificate.notBefore), time(certificate.notAfter)),
    certificate.subject,
    certificate.publicKey,
    der(0xa3, sequence(...certificate.extensions.map(writeExtension))),
  )
  return writePem(certificatePemType, sequence(body, scheme.algorithm, bitString(sign(scheme.hash, body, key))))
}

/** Encodes an extension of a certificate or of a request. */
export function writeExtension({ oid: type, critical, value }: Extension): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value))
}

/** Makes a positive serial number. */
function serialOf(bytes: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(bytes)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return serial
}
