export type CertificateErrorCode =
  /** A file that is kept cannot be read or written. */
  | 'StorageFailed'
  /** A host that is neither a DNS name nor an IP address. */
  | 'InvalidHost'
  /** A request, certificate or key that cannot be read. */
  | 'Malformed'
  /** Whoever made the request does not show that the key is theirs. */
  | 'BadSignature'
  /** A key, or a signature, that others can forge; or a key so large that checking it is an attack. */
  | 'WeakKey'
  /** The request breaks a rule of its signer. */
  | 'Refused'
  /** The authority cannot sign: its certificate has ended, is that of no authority, or the key is another. */
  | 'UnusableAuthority'
  /** A bootstrap token, or what shall be said of one, that cannot be used. */
  | 'InvalidToken'
  /** A pin of a public key that is none. */
  | 'InvalidPin'
  /** Cluster information without a signature for the token; a signer may be about to add it. */
  | 'Unsigned'
  /** Cluster information that is not to be believed. */
  | 'Untrusted'

/** A certificate could not be made or kept, or what is needed to join cannot be used. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
  readonly code: CertificateErrorCode

  constructor(fields: { readonly code: CertificateErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
