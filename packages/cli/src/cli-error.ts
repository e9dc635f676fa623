export type CliErrorCode =
  /** Contradictory flags or invalid values. */
  | 'InvalidFlag'
  /** A file that cannot be read or written. */
  | 'FileFailed'
  /** An invalid response of a server. */
  | 'InvalidResponse'
  /** A process that ends while it starts. */
  | 'StartFailed'

/** A failure that the user can correct; the message is printed without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: CliErrorCode

  constructor(fields: { readonly code: CliErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
