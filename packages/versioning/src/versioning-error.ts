export type VersioningErrorCode =
  /** Text that is no release. */
  | 'InvalidRelease'
  /** A life whose releases are not in rising order, or that names what is not there. */
  | 'InvalidLife'
  /** Text of `--feature-gates` that cannot be read. */
  | 'InvalidFeatureGates'
  /** A gate that the release does not have. */
  | 'UnknownGate'
  /** A gate that cannot be set so any more. */
  | 'LockedGate'

/** What this package throws. Breaches of the deprecation rules are values. */
export class VersioningError extends Error {
  readonly code: VersioningErrorCode

  constructor(code: VersioningErrorCode, message: string) {
    super(message)
    this.name = 'VersioningError'
    this.code = code
  }
}
