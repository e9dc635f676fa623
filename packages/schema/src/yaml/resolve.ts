import { NumberLiteral } from '../json/syntax.ts'
import { decodeLoosely } from '../json/utf8.ts'
import type { DecodeError } from '../schema-error.ts'
import { isTimestamp } from './timestamp.ts'
import { yamlError } from './yaml-error.ts'

/**
 * Resolves scalars by the rules of YAML 1.1 that kube-apiserver's reader follows: `yes` and `off` are booleans, `0644` is octal,
 * base-60 numbers are not supported, times stay text.
 */

/** A resolved scalar. Floats are a separate case because keys print them differently. */
export type Resolved =
  | { readonly type: 'null' | 'bool' | 'text' | 'int'; readonly value: null | boolean | string | number | bigint | NumberLiteral }
  | { readonly type: 'float'; readonly value: number }

const core = 'tag:yaml.org,2002:'

const words: ReadonlyMap<string, Resolved> = new Map(
  (
    [
      [true, 'bool', 'y Y yes Yes YES true True TRUE on On ON'],
      [false, 'bool', 'n N no No NO false False FALSE off Off OFF'],
      [null, 'null', '~ null Null NULL'],
      [Number.NaN, 'float', '.nan .NaN .NAN'],
      [Number.POSITIVE_INFINITY, 'float', '.inf .Inf .INF +.inf +.Inf +.INF'],
      [Number.NEGATIVE_INFINITY, 'float', '-.inf -.Inf -.INF'],
    ] as const
  ).flatMap(([value, type, list]) => list.split(' ').map((word) => [word, { type, value } as Resolved] as const)),
)

/** First characters of texts that may resolve to another type. */
const mayResolve = /^[-+0-9.yYnNtTfFoO~]/

/**
 * @param tag full tag or empty.
 * @param plain whether the scalar is neither quoted nor a block.
 * @throws DecodeError `Yaml`
 */
export function resolveScalar(text: string, tag: string, plain: boolean): Resolved {
  if (tag === '') return plain ? resolvePlain(text) : { type: 'text', value: text }
  if (!tag.startsWith(core)) return { type: 'text', value: text }
  return resolveTagged(text, tag.slice(core.length))
}

function resolveTagged(text: string, tag: string): Resolved {
  if (tag === 'binary') return { type: 'text', value: binaryText(text) }
  if (!resolvable.has(tag)) return { type: 'text', value: text }
  if (tag === 'timestamp' && isTimestamp(text)) return { type: 'text', value: text }
  const found = resolvePlain(text)
  if (shortTags[found.type] === tag) return found
  if (tag === 'float' && found.type === 'int' && !(found.value instanceof NumberLiteral)) {
    return { type: 'float', value: Number(found.value) }
  }
  throw cannotDecode(shortTags[found.type], text, tag)
}

const resolvable: ReadonlySet<string> = new Set(['bool', 'int', 'float', 'null', 'timestamp'])
const shortTags: Readonly<Record<Resolved['type'], string>> = {
  null: 'null',
  bool: 'bool',
  text: 'str',
  int: 'int',
  float: 'float',
}

function cannotDecode(found: string, text: string, tag: string): DecodeError {
  return yamlError(`cannot decode !!${found} \`${text}\` as a !!${tag}`)
}

function resolvePlain(text: string): Resolved {
  if (text === '') return { type: 'null', value: null }
  const word = words.get(text)
  if (word !== undefined) return word
  if (mayResolve.test(text)) {
    const number = text.startsWith('.') ? fractionValue(text) : numberValue(text.replaceAll('_', ''))
    if (number !== undefined) return number
  }
  return { type: 'text', value: text }
}

const decimalFloat = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const integer = /^([-+]?)(?:0[bB]([01]+)|0[oO]?([0-7]+)|0[xX]([0-9a-fA-F]+)|(0|[1-9][0-9]*))$/

function numberValue(text: string): Resolved | undefined {
  if (!/^[-+]?[.0-9]/.test(text)) return undefined
  return integerValue(text) ?? floatValue(text)
}

/** In a number that starts with a point, underscores must separate digits; in other numbers they may be anywhere. */
function fractionValue(text: string): Resolved | undefined {
  return /^_|_$|[^0-9]_|_[^0-9]/.test(text) ? undefined : floatValue(text.replaceAll('_', ''))
}

function floatValue(text: string): Resolved | undefined {
  const value = decimalFloat.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? { type: 'float', value } : undefined
}

function integerValue(text: string): Resolved | undefined {
  const match = integer.exec(text)
  if (match === null || text.length > 80) return undefined
  const [, sign, binary, octal, hex, decimal] = match
  const digits =
    binary !== undefined ? `0b${binary}` : octal !== undefined ? `0o${octal}` : hex !== undefined ? `0x${hex}` : decimal
  const size = BigInt(digits as string)
  const value = sign === '-' ? -size : size
  if (value >= -(2n ** 63n) && value < 2n ** 63n) {
    const number = Number(value)
    return { type: 'int', value: Number.isSafeInteger(number) ? number : value }
  }
  // Unsigned integers beyond int64 become floats in JSON.
  return sign === '' && value < 2n ** 64n ? { type: 'int', value: new NumberLiteral(value.toString()) } : undefined
}

/** Decodes base64 text to text. */
function binaryText(text: string): string {
  const clean = text.replace(/[\r\n]+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(clean) || clean.length % 4 !== 0) {
    throw yamlError('!!binary value contains invalid base64 data')
  }
  return decodeLoosely(Uint8Array.from(atob(clean), (char) => char.charCodeAt(0)))
}
