export type KindsErrorCode =
  /** A key or value of `--runtime-config` that cannot be parsed, or that names an unknown group version. */
  | 'InvalidRuntimeConfig'
  /** No type or kind of that name exists. */
  | 'UnknownKind'
  /** A value that is not an object of the expected kind; `problems` states why. */
  | 'InvalidObject'
  /** An invalid definition of a resource; the message lists all errors. */
  | 'InvalidDefinition'

/** Thrown by the functions of this package. Strategies never throw; they return field errors. */
export class KindsError extends Error {
  readonly code: KindsErrorCode

  constructor(code: KindsErrorCode, message: string) {
    super(message)
    this.name = 'KindsError'
    this.code = code
  }
}
