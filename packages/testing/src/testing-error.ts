export type TestingErrorCode =
  /** A manifest cannot be read, or the server rejects it. */
  | 'InvalidSeed'
  /** An expectation of the ledger failed. */
  | 'Unexpected'
  /** A user is not in `users`. */
  | 'UnknownUser'
  /** A node is not simulated. */
  | 'UnknownNode'
  /** The clock cannot be advanced. */
  | 'RealClock'
  /** A duration is malformed or negative. */
  | 'InvalidDuration'
  /** The server is closed. */
  | 'Closed'

/** A test server cannot be used as requested, or an expectation failed. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingErrorCode

  constructor(fields: { readonly code: TestingErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
