export type AdmissionErrorCode =
  /** A configuration does not parse or is invalid for its plugin. */
  | 'InvalidConfiguration'
  /** Unknown plugin name. */
  | 'UnknownPlugin'
  /** An argument is missing or of another kind, or an option has an unknown member. */
  | 'InvalidArgument'

/** An invalid choice or configuration of plugins. Refusals of requests are `ApiError`s of `@krmkit/meta`. */
export class AdmissionError extends Error {
  override readonly name = 'AdmissionError'
  readonly code: AdmissionErrorCode

  constructor({ code, message, cause }: { code: AdmissionErrorCode; message: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
