/** The error of this package's parsers. */

import { StacklessError } from './stackless-error.ts'

/** The kind of malformed text. The set is closed. */
export type MetaErrorCode =
  | 'InvalidApiVersion'
  | 'InvalidDer'
  | 'InvalidDuration'
  | 'InvalidFieldSelector'
  | 'InvalidIntOrString'
  | 'InvalidLabelSelector'
  | 'InvalidPem'
  | 'InvalidQuantity'
  | 'InvalidTime'

/** Malformed text. The message is that of the stock server, suitable for a Status. */
export class MetaError extends StacklessError {
  readonly code: MetaErrorCode
  /** The rejected text. */
  readonly text: string

  constructor(code: MetaErrorCode, text: string, message: string) {
    super(message)
    this.name = 'MetaError'
    this.code = code
    this.text = text
  }
}
