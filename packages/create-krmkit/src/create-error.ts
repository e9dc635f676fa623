export type CreateErrorCode =
  /** A template that does not exist. */
  | 'UnknownTemplate'
  /** A name that no npm package can have. */
  | 'InvalidName'
  /** The folder contains files. */
  | 'FolderNotEmpty'
  /** The folder of packed packages lacks one that the template needs. */
  | 'MissingTarball'
  /** An unknown flag, or an additional argument. */
  | 'InvalidFlag'

/** Thrown when the project cannot be created. The message says how to fix it. */
export class CreateError extends Error {
  readonly code: CreateErrorCode

  constructor({ code, message }: { readonly code: CreateErrorCode; readonly message: string }) {
    super(message)
    this.name = 'CreateError'
    this.code = code
  }
}
