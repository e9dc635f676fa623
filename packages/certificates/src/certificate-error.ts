import { isDerError } from '@krmkit/base/der'

export type CertificateErrorCode =
  /** A stored file cannot be read or written. */
  | 'StorageFailed'
  /** A host is neither a DNS name nor an IP address. */
  | 'InvalidHost'
  /** A request, certificate or key cannot be decoded. */
  | 'Malformed'
  /** The request does not prove possession of its private key. */
  | 'BadSignature'
  /** The key or signature is forgeable, or the key is so large that verifying it is a denial of service. */
  | 'WeakKey'
  /** The request violates a rule of its signer. */
  | 'Refused'
  /** The authority cannot sign: its certificate has expired or is not a CA certificate, or the key does not match. */
  | 'UnusableAuthority'
  /** A bootstrap token, or the metadata of one, is invalid. */
  | 'InvalidToken'
  /** A public key pin is invalid. */
  | 'InvalidPin'
  /** The cluster information has no signature for the token; a signer may still add one. */
  | 'Unsigned'
  /** The cluster information cannot be trusted. */
  | 'Untrusted'

/** Thrown when a certificate, request, key or bootstrap token cannot be created, stored or used. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
  readonly code: CertificateErrorCode

  constructor(fields: { readonly code: CertificateErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}

export function malformed(message: string, cause?: unknown): CertificateError {
  return new CertificateError({ code: 'Malformed', message, cause })
}

/** Runs a decoder; a DER error becomes `Malformed` with the same message. */
export function readingDer<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw isDerError(error) ? malformed(error.message, error) : error
  }
}
