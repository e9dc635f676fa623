export type HttpErrorCode =
  /** The port is taken, the address unknown, or listening is not permitted. */
  | 'ListenFailed'
  /** Certificate, key or authorities that TLS cannot use. */
  | 'InvalidTls'
  /** An option outside its range. */
  | 'InvalidOption'

/** The adapter cannot serve. What goes wrong with one request is answered or told to `onFault`. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode

  constructor(fields: { readonly code: HttpErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
