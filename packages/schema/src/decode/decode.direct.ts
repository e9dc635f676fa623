// Derived from decode.ts by `npm run direct`: do not edit.
import type { CustomCodec, Decoded, StructType } from '../interfaces.ts'
import { DecodeContext } from './context.ts'
import { copyAny } from './copies.direct.ts'
import { addPath, type DecodedCopy, type DecodeOptions, joinProblems, keyedCopy, requireObject, toDepthError } from './decode.ts'
import { planOf } from './plan.ts'
import { decodeStruct } from './struct.direct.ts'

/**
 * Decodes a value against a type, as Go decodes into a struct: names are case-sensitive, null means unset, no type is coerced.
 *
 * The result is canonical (see `Decoded`) and shares nothing with `value`. Null decodes to the zero object.
 *
 * @throws DecodeError `Type` (`json: cannot unmarshal ...`), `Value` (base64, quantities, times), `Depth`, `TooLarge`.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode } from '@krmkit/schema'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const { object, problems } = decode(configMap, { data: { a: '1' }, extra: 1 })
 * problems // [ 'unknown field "extra"' ]
 * @see API protocol specification, 4.6
 */
export function decode<T = Record<string, unknown>>(type: StructType, value: unknown, options: DecodeOptions = {}): Decoded<T> {
  if (type.custom !== undefined) return decodeCustom(type.custom, value, options) as Decoded<T>
  const context = new DecodeContext(options.duplicates, options.collect ?? true, options.size)
  context.sortsRaw = options.sortsRaw === true
  context.namesEmbedded = options.namesEmbedded === true
  if (options.keepEmpties !== undefined) context.keptEmpties = options.keepEmpties
  let object: unknown
  try {
    object = decodeStruct(planOf(type), value ?? {}, context)
  } catch (error) {
    throw addPath(toDepthError(error), context)
  }
  context.finish()
  return { object: object as T, problems: joinProblems(options.problems, context.problems) }
}

function decodeCustom(codec: CustomCodec, value: unknown, options: DecodeOptions): Decoded {
  try {
    return codec.decode(value, options)
  } catch (error) {
    throw toDepthError(error)
  }
}

/**
 * Copies a value of a kind without a type (custom resources); only duplicate fields are reported.
 *
 * @throws DecodeError `Type` when the value is not an object, `Depth`.
 * @example
 * import { decodeUntyped } from '@krmkit/schema'
 * decodeUntyped({ kind: 'Widget', spec: {} }).object // { kind: 'Widget', spec: {} }
 */
export function decodeUntyped<T = Record<string, unknown>>(value: unknown, options: DecodeOptions = {}): DecodedCopy<T> {
  const context = new DecodeContext(options.duplicates, options.collect ?? true, options.size)
  let copy: unknown
  try {
    copy = copyAny(requireObject(value, context), context, keyedCopy)
  } catch (error) {
    throw toDepthError(error)
  }
  context.finish()
  return { object: copy as T, problems: joinProblems(options.problems, context.problems), keys: context.copiedKeys }
}
