/** Errors of this package. Messages are complete and can be shown to clients unchanged. */

/**
 * - `UnknownType`: no type has that name.
 * - `NoProtobuf`: the type has no protobuf form.
 * - `BadFacts`: the type facts contradict themselves.
 */
export type SchemaErrorCode = 'UnknownType' | 'NoProtobuf' | 'BadFacts'

/**
 * Invalid type facts or invalid use of a type: a programming error, never caused by a client. Separate from `DecodeError`,
 * which callers always turn into a client error.
 */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
  readonly code: SchemaErrorCode

  constructor({ code, message, cause }: { readonly code: SchemaErrorCode; readonly message: string; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
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

/** Code, message and, if known, location of a `DecodeError`. */
export interface DecodeErrorFields {
  readonly code: DecodeErrorCode
  readonly message: string
  /** Path in the object, such as `spec.containers[0].name`; empty for the object itself. */
  readonly path?: string | undefined
  /** Position in YAML text; line and column count from 0. */
  readonly mark?: { readonly line: number; readonly column: number } | undefined
  readonly cause?: unknown
}

/**
 * A body that cannot be decoded: a client error, reported with 400 (413 for `TooLarge`). The message is that of kube-apiserver.
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
  override readonly name = 'DecodeError'
  readonly code: DecodeErrorCode
  /** Path in the object; undefined when it is not known. */
  readonly path: string | undefined
  /** Position in YAML text; line and column count from 0. */
  readonly mark: { readonly line: number; readonly column: number } | undefined

  constructor({ code, message, path, mark, cause }: DecodeErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
    this.mark = mark
  }
}
