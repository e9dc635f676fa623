/** The formats of a schema that a release checks. */

import type { Features, JsonObject } from '@krmkit/meta'
import { formatCheck } from '@krmkit/meta/formats'
import { validateDns1123Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import { own } from '../json/json-object.ts'

type Release = Features['release'] | undefined

/** Formats of names, which 1.34 added. */
const nameFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['k8sshortname', (text) => validateDns1123Label(text).length === 0],
  ['k8slongname', (text) => validateDns1123Subdomain(text).length === 0],
])

const numericFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
}

/** The check of texts of a format; undefined for one that the release does not check. Absent: 1.33. */
export function textFormat(name: string, release: Release): ((text: string) => boolean) | undefined {
  return formatCheck(name) ?? (release?.atLeast('1.34') ? nameFormats.get(name.replaceAll('-', '')) : undefined)
}

/**
 * Whether a release applies a format to values of a type: formats of texts to every type, from 1.36 on those of texts to texts and those of
 * numbers to numbers.
 *
 * @example
 * import { createFeatures } from '@krmkit/meta'
 * import { appliesFormat } from '@krmkit/schema/structural'
 * appliesFormat({ type: 'integer', format: 'int32' }, createFeatures('1.35').release) // false
 * appliesFormat({ type: 'integer', format: 'int32' }, createFeatures('1.36').release) // true
 */
export function appliesFormat(schema: JsonObject, release: Release): boolean {
  const format = own(schema, 'format')
  if (typeof format !== 'string' || format === '') return false
  if (release?.atLeast('1.36') !== true) return textFormat(format, release) !== undefined
  const type = own(schema, 'type') ?? ''
  if (type === '' || type === 'string') return textFormat(format, release) !== undefined
  return typeof type === 'string' && Object.hasOwn(numericFormats, type) && numericFormats[type]!.includes(format)
}

/**
 * Whether a definition with the schema gets a warning for its format: from 1.34 on for unknown formats of texts, from 1.36 on for all that
 * are not applied.
 *
 * @example
 * import { createFeatures } from '@krmkit/meta'
 * import { isUnrecognizedFormat } from '@krmkit/schema/structural'
 * isUnrecognizedFormat({ type: 'string', format: 'zip-code' }, createFeatures('1.33').release) // false
 * isUnrecognizedFormat({ type: 'string', format: 'zip-code' }, createFeatures('1.34').release) // true
 */
export function isUnrecognizedFormat(schema: JsonObject, release: Features['release']): boolean {
  const format = own(schema, 'format')
  if (typeof format !== 'string' || format === '' || !release.atLeast('1.34')) return false
  return (release.atLeast('1.36') || own(schema, 'type') === 'string') && !appliesFormat(schema, release)
}

/** The numeric type and format whose range values must be in, from 1.36 on. */
export interface NumberRange {
  readonly type: 'integer' | 'number'
  /** Empty: the default format. */
  readonly format: string
}

export function numberRange(schema: JsonObject, release: Release): NumberRange | undefined {
  const type = own(schema, 'type')
  if (release?.atLeast('1.36') !== true || own(schema, 'x-kubernetes-int-or-string') === true) return undefined
  if (type !== 'integer' && type !== 'number') return undefined
  const format = own(schema, 'format')
  return { type, format: typeof format === 'string' && appliesFormat(schema, release) ? format : '' }
}

const limits = { int32: 2n ** 31n, int64: 2n ** 63n } as const

/** The problem of a number outside of the range; undefined if it is inside. `what` begins the message. */
export function rangeProblem(
  value: number | bigint,
  { type, format }: NumberRange,
  { what, path }: { readonly what: string; readonly path: string },
): string | undefined {
  if (isInRange(value, { type, format })) return undefined
  const shown = format === '' ? '(default format)' : `with format ${format}`
  return `${what} value must be of type ${type} ${shown} in ${path}`
}

function isInRange(value: number | bigint, { type, format }: NumberRange): boolean {
  if (type === 'number') return format !== 'float' || Number.isFinite(Math.fround(Number(value)))
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const limit = format === 'int32' ? limits.int32 : limits.int64
  const whole = BigInt(value)
  return whole >= -limit && whole < limit
}
