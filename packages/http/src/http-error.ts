export type HttpErrorCode =
  /** The port is taken, the address unknown, or listening is not permitted. */
  | 'ListenFailed'
  /** The certificate, key or authorities are unusable. */
  | 'InvalidTls'
  /** An option is out of range. */
  | 'InvalidOption'

/** The listener cannot start. Failures of single requests are responses, or reported to `onError`. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode

  constructor(fields: { readonly code: HttpErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
