export type CliErrorCode =
  /** Flags that contradict each other, or values that cannot be used. */
  | 'InvalidFlag'
  /** A file that cannot be read or written. */
  | 'FileFailed'
  /** What another program or server said is of no use. */
  | 'Unusable'

/** The command cannot do what it was told. The message is for the person at the terminal. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: CliErrorCode

  constructor(fields: { readonly code: CliErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
