/**
 * The errors of this package. Messages are complete: callers pass them on as they are.
 */

/** Something is wrong with the type facts or with how they are used: a mistake of the program, not of a client. */
export class SchemaError extends Error {
  readonly code: SchemaErrorCode

  constructor(code: SchemaErrorCode, message: string) {
    super(message)
    this.name = 'SchemaError'
    this.code = code
  }
}

/** `UnknownType`: no type of that name. `NoProtobuf`: the type has no protobuf form. `BadFacts`: the facts contradict themselves. */
export type SchemaErrorCode = 'UnknownType' | 'NoProtobuf' | 'BadFacts'
