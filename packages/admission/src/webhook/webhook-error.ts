export type WebhookErrorCode =
  /** The webhook could not be reached or did not respond. */
  | 'Failed'
  /** The response does not decode. */
  | 'Unreadable'
  /** The response does not match the review. */
  | 'Invalid'

/** A failed call. A class beside `AdmissionError` because `failurePolicy` applies to every error of this class and to no other. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode
  /** The HTTP status that metrics record, by default that of kube-apiserver: 503 for `Invalid`, otherwise 400. */
  readonly httpCode: number

  constructor({ code, message, cause, httpCode = code === 'Invalid' ? 503 : 400 }: WebhookErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WebhookError'
    this.code = code
    this.httpCode = httpCode
  }
}

interface WebhookErrorFields {
  readonly code: WebhookErrorCode
  readonly message: string
  readonly cause?: unknown
  readonly httpCode?: number
}
