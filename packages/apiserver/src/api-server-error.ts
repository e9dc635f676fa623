/** `InvalidOption`: an option is missing, unknown, or of the wrong kind. */
export type ApiServerErrorCode = 'InvalidOption'

/** The server cannot be created. Failures of requests become responses or are reported to `onError`. */
export class ApiServerError extends Error {
  override readonly name = 'ApiServerError'
  readonly code: ApiServerErrorCode

  constructor(fields: { readonly code: ApiServerErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}

/** @throws ApiServerError `InvalidOption` when there is a problem */
export function failWith(problem: string | undefined): void {
  if (problem !== undefined) throw new ApiServerError({ code: 'InvalidOption', message: problem })
}
