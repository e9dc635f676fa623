export type AdmissionErrorCode =
  /** A configuration cannot be read or contradicts the rules of its plugin. */
  | 'InvalidConfiguration'
  /** No plugin has that name. */
  | 'UnknownPlugin'

/** A mistake of whoever sets admission up. Refusals of requests are `ApiError`s of `@krmkit/meta`. */
export class AdmissionError extends Error {
  override readonly name = 'AdmissionError'
  readonly code: AdmissionErrorCode

  constructor({ code, message, cause }: { code: AdmissionErrorCode; message: string; cause?: unknown }) {
    super(message, { cause })
    this.code = code
  }
}
