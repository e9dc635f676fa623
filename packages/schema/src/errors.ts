/** Errors of this package. Messages are complete and can be shown to clients unchanged. */

/**
 * - `UnknownType`: no type has that name.
 * - `NoProtobuf`: the type has no protobuf form.
 * - `BadFacts`: the type facts contradict themselves.
 */
export type SchemaErrorCode = 'UnknownType' | 'NoProtobuf' | 'BadFacts'

/** Invalid type facts or invalid use of a type: a programming error, never caused by a client. */
export class SchemaError extends Error {
  readonly code: SchemaErrorCode

  constructor(code: SchemaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SchemaError'
    this.code = code
  }
}

/**
 * Why a body cannot be decoded.
 *
 * - `Syntax`: not JSON.
 * - `Depth`: nested too deeply.
 * - `Type`: a value has another type than its field.
 * - `Value`: text that is not a valid quantity, time, base64, ...
 * - `TypeMeta`: `kind` or `apiVersion` cannot be read.
 * - `Yaml`: not YAML, or YAML without a JSON form.
 * - `Aliasing`: YAML whose aliases expand excessively.
 * - `Protobuf`: not the binary form, or truncated.
 * - `TooLarge`: the object exceeds the limit of the caller (`DecodedSize`) or takes too much memory to read; the response is 413.
 */
export type DecodeErrorCode = 'Syntax' | 'Depth' | 'Type' | 'Value' | 'TypeMeta' | 'Yaml' | 'Aliasing' | 'Protobuf' | 'TooLarge'

/** Where the error is, as far as it is known. */
export interface DecodeErrorLocation {
  /** Path in the object, such as `spec.containers[0].name`; empty for the object itself. */
  readonly path?: string
  /** Position in YAML text; line and column count from 0. */
  readonly mark?: { readonly line: number; readonly column: number }
}

/**
 * A body that cannot be decoded: a client error, reported with 400 (413 for `TooLarge`). The message is that of the stock server.
 *
 * @example
 * import { DecodeError, parseJson } from '@krmkit/schema'
 * try {
 *   parseJson('{"data":')
 * } catch (error) {
 *   if (error instanceof DecodeError) console.log(error.code, error.message) // Syntax unexpected end of JSON input
 * }
 */
export class DecodeError extends Error {
  readonly code: DecodeErrorCode
  readonly location: DecodeErrorLocation

  constructor(code: DecodeErrorCode, message: string, location: DecodeErrorLocation = {}, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DecodeError'
    this.code = code
    this.location = location
  }
}
