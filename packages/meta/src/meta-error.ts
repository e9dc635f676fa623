/** The error of this package's parsers. */

import { StacklessError } from '@krmkit/base'

/** The kind of malformed text. The set is closed. */
export type MetaErrorCode =
  | 'InvalidApiVersion'
  | 'InvalidDuration'
  | 'InvalidFieldSelector'
  | 'InvalidIntOrString'
  | 'InvalidLabelSelector'
  | 'InvalidQuantity'
  | 'InvalidTime'

export interface MetaErrorFields {
  readonly code: MetaErrorCode
  readonly message: string
  /** The rejected text. */
  readonly text: string
  readonly cause?: unknown
}

/** Thrown for malformed text. The message is that of kube-apiserver, suitable for a Status. */
export class MetaError extends StacklessError {
  override readonly name = 'MetaError'
  readonly code: MetaErrorCode
  /** The rejected text. */
  readonly text: string

  constructor({ code, message, text, cause }: MetaErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.text = text
  }
}
