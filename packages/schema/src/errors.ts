/**
 * The errors of this package. Messages are complete: callers pass them on as they are.
 */

/** `UnknownType`: no type of that name. `NoProtobuf`: the type has no protobuf form. `BadFacts`: the facts contradict themselves. */
export type SchemaErrorCode = 'UnknownType' | 'NoProtobuf' | 'BadFacts'

/** Something is wrong with the type facts or with how they are used: a mistake of the program, not of a client. */
export class SchemaError extends Error {
  readonly code: SchemaErrorCode

  constructor(code: SchemaErrorCode, message: string) {
    super(message)
    this.name = 'SchemaError'
    this.code = code
  }
}

/**
 * What is wrong with a body.
 *
 * - `Syntax`: not JSON.
 * - `Depth`: nested too deeply.
 * - `Type`: a value of another type than the field has.
 * - `Value`: text that is no quantity, time, base64, ...
 * - `TypeMeta`: `kind` and `apiVersion` cannot be read.
 * - `Yaml`: not YAML, or YAML that has no JSON form.
 * - `Aliasing`: YAML whose aliases expand to far more than was sent.
 * - `Protobuf`: not the binary form, or truncated.
 * - `TooLarge`: the object is larger than the caller allows (`DecodedSize`), or takes too much memory to read; answered with 413.
 */
export type DecodeErrorCode = 'Syntax' | 'Depth' | 'Type' | 'Value' | 'TypeMeta' | 'Yaml' | 'Aliasing' | 'Protobuf' | 'TooLarge'

/** Where a body is wrong, as far as that is known. */
export interface DecodeErrorPlace {
  /** In the object: `spec.containers[0].name`; empty for the object as a whole. */
  readonly path?: string
  /** In the text of YAML: both from 0. */
  readonly mark?: { readonly line: number; readonly column: number }
}

/** A body that cannot be read: the client's fault, answered with 400 (413 for `TooLarge`). The message is the stock server's. */
export class DecodeError extends Error {
  readonly code: DecodeErrorCode
  readonly place: DecodeErrorPlace

  constructor(code: DecodeErrorCode, message: string, place: DecodeErrorPlace = {}) {
    super(message)
    this.name = 'DecodeError'
    this.code = code
    this.place = place
  }
}
