export type VersioningErrorCode =
  /** Text that is not a release. */
  | 'InvalidRelease'
  /** A lifecycle whose releases are out of order, or that names an unknown version. */
  | 'InvalidLifecycle'
  /** Text of `--feature-gates` that does not parse. */
  | 'InvalidFeatureGates'
  /** A gate that does not exist in the release. */
  | 'UnknownGate'
  /** A gate is set to a value other than the one it is locked to. */
  | 'LockedGate'
  /** A gate is enabled without a gate that it requires. */
  | 'MissingPrerequisite'
  /** Gates of an unknown component. */
  | 'UnknownComponent'

/** Thrown for invalid input. Violations of the deprecation rules are values, not errors. */
export class VersioningError extends Error {
  readonly code: VersioningErrorCode

  constructor({ code, message, cause }: { code: VersioningErrorCode; message: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'VersioningError'
    this.code = code
  }
}
