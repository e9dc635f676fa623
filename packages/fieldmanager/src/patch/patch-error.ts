/** The reasons for which a patch fails; each maps to one HTTP status. The set is closed. */
export type PatchErrorCode =
  /** The patch is malformed or misuses its directives: 400. */
  | 'BadPatch'
  /** The patch is well-formed but does not fit the object: 422. */
  | 'Unprocessable'
  /** The patch exceeds the maximum number of operations: 413. */
  | 'TooManyOperations'
  /** Live state changed since the last apply; reported only with `overwrite: false`. */
  | 'Conflict'

/** A patch cannot be applied, or created. */
export class PatchError extends Error {
  readonly code: PatchErrorCode

  constructor(code: PatchErrorCode, message: string) {
    super(message)
    this.name = 'PatchError'
    this.code = code
  }
}
