export type TestingErrorCode =
  /** A manifest that cannot be read, or that the server refuses. */
  | 'InvalidSeed'
  /** What the ledger holds is not what was expected. */
  | 'Unexpected'
  /** A user that was not named in `users`. */
  | 'UnknownUser'
  /** A clock that cannot be moved. */
  | 'RealClock'
  /** The server was disposed of. */
  | 'Closed'

/** A test server that cannot do what it was asked for, or an expectation that does not hold. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingErrorCode

  constructor(fields: { readonly code: TestingErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
