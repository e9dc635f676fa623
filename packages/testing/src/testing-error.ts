export type TestingErrorCode =
  /** A manifest cannot be read, or the server rejects it. */
  | 'InvalidSeed'
  /** An expectation of the ledger failed. */
  | 'Unexpected'
  /** A user is not in `users`. */
  | 'UnknownUser'
  /** A node is not simulated. */
  | 'UnknownNode'
  /** A path of a field is malformed. */
  | 'InvalidPath'
  /** The clock cannot be advanced. */
  | 'RealClock'
  /** A seed or an order of an exploration is malformed. */
  | 'InvalidOrder'
  /** A test fails in an order of an exploration. */
  | 'OrderFailed'
  /** The hooks of a test runner are incomplete. */
  | 'InvalidHooks'
  /** A fault is malformed. */
  | 'InvalidFault'
  /** No held event can be delivered. */
  | 'NothingHeld'
  /** A duration is malformed or negative. */
  | 'InvalidDuration'
  /** An option or a match has an unknown member, or is of the wrong kind. */
  | 'InvalidOption'
  /** A folder holds no saved state, or other files. */
  | 'InvalidState'
  /** The runtime has no files, ports or client certificates. */
  | 'Unsupported'
  /** The server is closed. */
  | 'Closed'

/** Thrown when a test server is used wrongly, or an expectation failed. */
export class TestingError extends Error {
  override readonly name: string = 'TestingError'
  readonly code: TestingErrorCode

  constructor(fields: { readonly code: TestingErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
