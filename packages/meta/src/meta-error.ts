/**
 * What this package throws when text does not parse.
 */

import { QuietError } from './quiet-error.ts'

/** What kind of text was refused. */
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

/** Text that does not parse. The message is the stock server's, so it can stand in a Status as it is. */
export class MetaError extends QuietError {
  readonly code: MetaErrorCode
  /** What was refused. */
  readonly text: string

  constructor(code: MetaErrorCode, text: string, message: string) {
    super(message)
    this.name = 'MetaError'
    this.code = code
    this.text = text
  }
}
