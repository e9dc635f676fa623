/**
 * Why a webhook could not be asked. `Failed`: there was no way, or no answer. `Unreadable`: the answer cannot be decoded. `Invalid`: it
 * is no answer to what was asked.
 */
export type WebhookErrorCode = 'Failed' | 'Unreadable' | 'Invalid'

/** A call that came to nothing: what `failurePolicy` is about. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode
  /** The HTTP status that it amounts to, which metrics tell. */
  readonly httpCode: number

  constructor(code: WebhookErrorCode, message: string, httpCode = 503) {
    super(message)
    this.name = 'WebhookError'
    this.code = code
    this.httpCode = httpCode
  }
}
