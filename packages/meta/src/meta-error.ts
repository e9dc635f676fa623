/** The error of this package's parsers. */

import { StacklessError } from '@krmkit/base'
import type { FieldError } from './interfaces.ts'

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
  /** The errors that the message consists of, after a prefix. Releases state them in their own form. */
  readonly errors?: ListedErrors
}

interface ListedErrors {
  readonly prefix: string
  readonly list: readonly FieldError[]
}

/** Thrown for malformed text. The message is that of kube-apiserver, suitable for a Status. */
export class MetaError extends StacklessError {
  override readonly name = 'MetaError'
  readonly code: MetaErrorCode
  /** The rejected text. */
  readonly text: string
  // Private, so that comparisons do not see it.
  readonly #errors: ListedErrors | undefined

  constructor({ code, message, text, cause, errors }: MetaErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.text = text
    this.#errors = errors
  }

  /** The errors that the message consists of, after `prefix`; undefined for other messages. */
  get errors(): ListedErrors | undefined {
    return this.#errors
  }
}
