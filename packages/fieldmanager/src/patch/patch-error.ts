/** How a patch failed, which is how it is answered. */
export type PatchErrorCode =
  /** The patch is no patch of its kind, or breaks the rules of its directives: 400. */
  | 'BadPatch'
  /** The patch is sound but does not fit the object: 422. */
  | 'Unprocessable'
  /** More operations than allowed: 413. */
  | 'TooManyOperations'
  /** Original, modified and current state disagree, where that was to be found out. */
  | 'Conflict'

/** A patch that cannot be applied, or made. */
export class PatchError extends Error {
  readonly code: PatchErrorCode

  constructor(code: PatchErrorCode, message: string) {
    super(message)
    this.name = 'PatchError'
    this.code = code
  }
}
