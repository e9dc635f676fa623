import { formatDuration, MetaError, parseDuration } from '@krmkit/meta'
import { normalizeQuantity, quantityFormatError } from '@krmkit/meta/quantity'
import { normalizeMicroTime, normalizeTime } from '@krmkit/meta/time'
import type { SpecialName } from '../interfaces.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { asInvalidNumber, type DecodeContext } from './context.ts'
import { copyRaw, copyRawCounted } from './copies.direct.ts'
import * as paced from './copies.ts'
import type { NodePlan } from './field-plan.ts'
import { isInt32 } from './scalars.ts'

/** Types with a hand-written JSON form. Unlike a type mismatch elsewhere, unparsable text ends decoding. */

/** Go's text of the zero time. */
const zeroTime = '0001-01-01T00:00:00Z'
const zeroMicroTime = '0001-01-01T00:00:00.000000Z'

/** The decoding of a special type. */
type SpecialDecoding = Pick<NodePlan, 'decode' | 'paced'>

const decodings: Partial<Record<SpecialName, SpecialDecoding>> = {
  Time: { decode: (value, context) => timeValue(value, context, normalizeTime, zeroTime) },
  MicroTime: { decode: (value, context) => timeValue(value, context, normalizeMicroTime, zeroMicroTime) },
  Duration: { decode: (value, context) => parsed(() => formatDuration(parseDuration(textOf(value, context)))) },
  Quantity: { decode: quantityValue },
  QuantityValue: { decode: quantityValue },
  IntOrString: { decode: intOrStringValue },
  RawExtension: {
    decode: (value, context) => copyRawCounted(value, context, { sorted: context.sortsRaw }),
    paced: { decode: (value, context) => paced.copyRawCounted(value, context, { sorted: context.sortsRaw }) },
  },
  JSON: {
    decode: (value, context) => copyRawCounted(value, context, { sorted: true }),
    paced: { decode: (value, context) => paced.copyRawCounted(value, context, { sorted: true }) },
  },
  // The size of this value is not counted here.
  FieldsV1: { decode: copyRaw, paced: { decode: (value, context) => paced.copyRaw(value, context, { constant: true }) } },
}

/** Decoding of all other special types: raw JSON. */
const rawDecoding: SpecialDecoding = { decode: copyRaw, paced: { decode: paced.copyRaw } }

/** The decoding of every special type except those that hold a schema (`JSONSchemaPropsOr…`). */
export function specialDecoding(special: SpecialName): SpecialDecoding {
  return decodings[special] ?? rawDecoding
}

/** Zero value of an unset list element or map value. */
export function specialZero(special: SpecialName): unknown {
  if (special === 'Quantity' || special === 'QuantityValue') return '0'
  if (special === 'IntOrString') return 0
  return special === 'Duration' ? '0s' : null
}

const quickTime = /^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$/

function timeValue(value: unknown, context: DecodeContext, normalize: (text: string) => string, zero: string): string | null {
  const text = textOf(value, context)
  const normal = quickTime.test(text) && zero === zeroTime && isPlainDay(text) ? text : parsed(() => normalize(text))
  return normal === zero ? null : normal
}

/** A day that exists in every month and a valid hour: no full parse needed. */
function isPlainDay(text: string): boolean {
  const month = text.slice(5, 7)
  const day = text.slice(8, 10)
  return month > '00' && month < '13' && day > '00' && day < '29' && text.slice(11, 13) < '24'
}

function textOf(value: unknown, context: DecodeContext): string {
  return typeof value === 'string' ? value : context.failMismatch(value, 'string')
}

/** Matches quantities that are canonical because they are too small for a larger unit. */
const quickQuantity = /^[1-9][0-9]{0,2}(?:m|k|[KMGT]i|[MGT])?$/

function quantityValue(value: unknown): string {
  if (typeof value === 'string') return quickQuantity.test(value) ? value : parsed(() => normalizeQuantity(value.trim()))
  if (value instanceof NumberLiteral) return parsed(() => normalizeQuantity(value.text))
  if (typeof value === 'number' || typeof value === 'bigint') return parsed(() => normalizeQuantity(String(value)))
  throw new DecodeError({ code: 'Value', message: quantityFormatError })
}

function intOrStringValue(value: unknown, context: DecodeContext): number | string {
  return typeof value === 'string' || isInt32(value) ? value : context.failMismatch(asInvalidNumber(value), 'int32')
}

function parsed(parse: () => string): string {
  try {
    return parse()
  } catch (error) {
    if (error instanceof MetaError) throw new DecodeError({ code: 'Value', message: error.message, cause: error })
    throw error
  }
}
