export type ControllersErrorCode =
  /** An option is missing, unknown, or of the wrong kind. */
  | 'InvalidOption'
  /** `controllers` names an unknown controller. */
  | 'UnknownController'
  /** An owner reference names a kind that the server does not serve. */
  | 'UnknownKind'
  /** The owner that controls a pod is missing or has no scale subresource. */
  | 'NoScale'
  /** Content of a namespace could not be deleted. */
  | 'NotEmptied'
  /** A certificate signing request is invalid and will not be signed. */
  | 'NotSigned'
  /** Nodes or behaviours of simulated pods are invalid. */
  | 'InvalidSimulation'
  /** No leader could be elected. */
  | 'NotElected'
  /** The controllers are stopped. */
  | 'Closed'

/** Thrown by `runControllers`, or passed to `onError` by a running controller. */
export class ControllersError extends Error {
  override readonly name = 'ControllersError'
  readonly code: ControllersErrorCode

  constructor(fields: { readonly code: ControllersErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
  }
}
