export type CertificateErrorCode =
  /** A file that is kept cannot be read or written. */
  | 'StorageFailed'
  /** A host that is neither a DNS name nor an IP address. */
  | 'InvalidHost'

/** A certificate could not be made or kept. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
  readonly code: CertificateErrorCode

  constructor(fields: { readonly code: CertificateErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
