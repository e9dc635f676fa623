import { StacklessError } from './stackless-error.ts'

/**
 * - `InvalidDer`: bytes that are not DER, or not the expected type.
 * - `InvalidPem`: text with a malformed PEM block.
 */
export type BaseErrorCode = 'InvalidDer' | 'InvalidPem'

export interface BaseErrorFields {
  readonly code: BaseErrorCode
  readonly message: string
  readonly cause?: unknown
}

/** Malformed input of the readers of this package. The message names the part or the line. */
export class BaseError extends StacklessError {
  override readonly name = 'BaseError'
  readonly code: BaseErrorCode

  constructor({ code, message, cause }: BaseErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
