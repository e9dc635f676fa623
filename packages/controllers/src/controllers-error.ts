export type ControllersErrorCode =
  /** A name that no controller has. */
  | 'UnknownController'
  /** An object names a kind that the server does not serve. */
  | 'UnknownKind'
  /** The controller of a pod does not tell how many pods there should be. */
  | 'NoScale'
  /** Something in a namespace could not be deleted. */
  | 'NotEmptied'
  /** A request for a certificate that its signer will never sign. */
  | 'NotSigned'
  /** The controllers have ended. */
  | 'Closed'

/** Controllers that cannot be run as they were asked for, or that have ended. What goes wrong while they run goes to `onError`. */
export class ControllersError extends Error {
  override readonly name = 'ControllersError'
  readonly code: ControllersErrorCode

  constructor(fields: { readonly code: ControllersErrorCode; readonly message: string }) {
    super(fields.message)
    this.code = fields.code
  }
}
