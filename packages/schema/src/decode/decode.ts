import type { Work } from '@krmkit/base/work'
import type { CustomCodec, Decoded, StructType } from '../interfaces.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { isParsedObject } from '../json/shape.ts'
import type { DuplicateMembers } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { DecodeContext } from './context.ts'
import { type CopyOptions, copyAny } from './copies.ts'
import { planOf } from './plan.ts'
import { decodeStruct } from './struct.ts'

/** Decodes parsed values into canonical objects. */

export interface DecodeOptions {
  /** Duplicate members found by the parser. Default: none. */
  readonly duplicates?: DuplicateMembers | undefined
  /** Whether to collect unknown and duplicate fields. Default true; false is faster when problems are not reported. */
  readonly collect?: boolean
  /** Earlier problems to report first, such as YAML problems. */
  readonly problems?: readonly string[]
  /** Counts the size of the decoded object; decoding fails above its limit. Default: no limit. */
  readonly size?: DecodedSize | undefined
  /**
   * Whether to sort the keys of raw JSON members, such as `data` of a ControllerRevision, as happens in Go after a strategic
   * merge patch or an apply. Default false: they keep their order.
   */
  readonly sortsRaw?: boolean
  /**
   * Paths at and below which empty lists and maps are kept although `omitempty` drops them, for validation rules that
   * distinguish empty from absent. Paths contain no indices and keys. `dropEmpties` restores the canonical form. Default:
   * none.
   */
  readonly keepEmpties?: readonly (readonly string[])[] | undefined
  /**
   * Whether to keep null members of custom resources that are neither nullable nor have a default, so that validation
   * rejects them, as it does for the result of an apply. Default false: they are removed.
   */
  readonly keepNulls?: boolean
  /** Whether errors name the embedded struct of a field, as from 1.35 on: `spec.volumes.VolumeSource.nfs`. Default false. */
  readonly namesEmbedded?: boolean
}

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
export function* decode<T = Record<string, unknown>>(
  type: StructType,
  value: unknown,
  options: DecodeOptions = {},
): Work<Decoded<T>> {
  if (type.custom !== undefined) return (yield* decodeCustom(type.custom, value, options)) as Decoded<T>
  const context = new DecodeContext(options.duplicates, options.collect ?? true, options.size)
  context.sortsRaw = options.sortsRaw === true
  context.namesEmbedded = options.namesEmbedded === true
  if (options.keepEmpties !== undefined) context.keptEmpties = options.keepEmpties
  let object: unknown
  try {
    object = yield* decodeStruct(planOf(type), value ?? {}, context)
  } catch (error) {
    throw addPath(toDepthError(error), context)
  }
  context.finish()
  return { object: object as T, problems: joinProblems(options.problems, context.problems) }
}

function* decodeCustom(codec: CustomCodec, value: unknown, options: DecodeOptions): Work<Decoded> {
  try {
    return yield* codec.paced.decode(value, options)
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
export function* decodeUntyped<T = Record<string, unknown>>(value: unknown, options: DecodeOptions = {}): Work<DecodedCopy<T>> {
  const context = new DecodeContext(options.duplicates, options.collect ?? true, options.size)
  let copy: unknown
  try {
    copy = yield* copyAny(requireObject(value, context), context, keyedCopy)
  } catch (error) {
    throw toDepthError(error)
  }
  context.finish()
  return { object: copy as T, problems: joinProblems(options.problems, context.problems), keys: context.copiedKeys }
}

export interface DecodedCopy<T> extends Decoded<T> {
  /** Keys of large objects in the copy, which are expensive to enumerate; only set by pausable work. */
  readonly keys: Map<object, readonly string[]> | undefined
}

export const keyedCopy: CopyOptions = { keyed: true }

export function requireObject(value: unknown, context: DecodeContext): unknown {
  const object = value ?? {}
  if (!isParsedObject(object)) context.recordMismatch(object, 'map[string]interface {}')
  return object
}

/** Adds the current path to errors that have none. */
export function addPath(error: unknown, context: DecodeContext): unknown {
  if (!(error instanceof DecodeError) || error.path !== undefined) return error
  return new DecodeError({ code: error.code, message: error.message, path: context.path, mark: error.mark, cause: error.cause })
}

/** Converts a stack overflow to a `Depth` error: deep in a call stack, it may occur before the depth limit is reached. */
export function toDepthError(error: unknown): unknown {
  return error instanceof RangeError ? new DecodeError({ code: 'Depth', message: 'exceeded max depth' }) : error
}

export function joinProblems(earlier: readonly string[] | undefined, own: readonly string[]): readonly string[] {
  if (earlier === undefined || earlier.length === 0) return own
  return own.length === 0 ? earlier : [...earlier, ...own]
}

/**
 * kube-apiserver's message under `Strict`: `strict decoding error: unknown field "a", duplicate field "b"`. YAML problems
 * have a separate heading.
 *
 * @returns `undefined` without problems.
 * @example
 * import { strictMessage } from '@krmkit/schema'
 * strictMessage(['unknown field "a"']) // 'strict decoding error: unknown field "a"'
 */
export function strictMessage(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined
  const yaml = problems.filter((problem) => yamlProblem.test(problem))
  const fields = problems.filter((problem) => !yamlProblem.test(problem))
  const heading = yaml.length === 0 ? [] : [`yaml: unmarshal errors:\n${yaml.map((line) => `  ${line}`).join('\n')}`]
  return `strict decoding error: ${[...heading, ...fields].join(', ')}`
}

const yamlProblem = /^line [0-9]+: /
