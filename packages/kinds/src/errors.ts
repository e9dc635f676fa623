export type KindsErrorCode =
  /** A key or value of `--runtime-config` that cannot be read, or that names nothing. */
  | 'InvalidRuntimeConfig'
  /** No type or kind of that name. */
  | 'UnknownKind'
  /** A value that is not an object of the kind it was given for; `problems` tells why. */
  | 'InvalidObject'
  /** A resource that cannot be defined so; the message tells everything that is wrong. */
  | 'InvalidDefinition'

/** What the helpers of this package throw; policies never throw, they return field errors. */
export class KindsError extends Error {
  readonly code: KindsErrorCode

  constructor(code: KindsErrorCode, message: string) {
    super(message)
    this.name = 'KindsError'
    this.code = code
  }
}
