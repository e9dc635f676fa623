export type KindsErrorCode =
  /** A key or value of `--runtime-config` that cannot be parsed, or that names an unknown group version. */
  | 'InvalidRuntimeConfig'
  /** A value that is not an object of the expected kind. */
  | 'InvalidObject'
  /** A release without recorded facts. */
  | 'UnknownRelease'
  /** An invalid definition of a resource; the message lists all errors. */
  | 'InvalidDefinition'

/** Thrown by the functions of this package. Strategies never throw; they return field errors. */
export class KindsError extends Error {
  readonly code: KindsErrorCode

  constructor({ code, message, cause }: { readonly code: KindsErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'KindsError'
    this.code = code
  }
}
