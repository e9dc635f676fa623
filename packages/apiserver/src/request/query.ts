import { ApiError, type Features, type FieldError, type NamingProfile, stockProfile } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { validateDryRun } from '@krmkit/registry'
import { metaGroup } from '../media/negotiation.ts'

/** Query parameters by name. As on kube-apiserver, the first value counts and unknown names are ignored. */
export type Query = ReadonlyMap<string, readonly string[]>

const emptyQuery: Query = new Map()

/** Maximum number of parameters. Differs: kube-apiserver limits the length of the URL only. */
export const maxParameters = 10_000

/** Whether a query has more than {@link maxParameters}, found without parsing it. */
export function hasTooManyParameters(text: string): boolean {
  if (text.length < maxParameters) return false
  let separators = 0
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) if (++separators >= maxParameters) return true
  return false
}

/** Matches a percent sign that does not begin an escape, or a semicolon. */
const malformed = /%(?![0-9a-fA-F]{2})|;/

/** Parses a query in linear time. As on kube-apiserver, malformed parameters count as absent. */
export function parseQuery(text: string): Query {
  if (text === '') return emptyQuery
  const parameters = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '' || malformed.test(pair)) continue
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? '' : decode(pair.slice(at + 1))
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    // The escaped bytes are not UTF-8: the text is used undecoded.
    return spaced
  }
}

/** The first value of a parameter. */
export function text(query: Query, name: string): string | undefined {
  return query.get(name)?.[0]
}

/** A boolean parameter: true when present, unless its value is `0` or `false` in any case. */
export function flag(query: Query, name: string): boolean {
  const value = text(query, name)
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false'
}

/** A 64-bit integer parameter; undefined when absent. @throws ApiError 400 with the message of Go's strconv, for empty text too. */
export function integer(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  if (!/^[+-]?[0-9]+$/.test(value)) throw ApiError.badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`)
  const number = Number(value)
  if (!Number.isSafeInteger(number) && BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    throw ApiError.badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: value out of range`)
  }
  return number
}

/** Query parameters common to writes. @see API protocol specification, 4.1 */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly force: boolean | undefined
}

/**
 * @param kind name of the options object in error messages: `CreateOptions`, `UpdateOptions` or `PatchOptions`.
 * @throws ApiError 422 with the invalid parameters.
 */
export function writeOptions(
  query: Query,
  kind: string,
  {
    apply = false,
    profile = stockProfile,
    features,
  }: { readonly apply?: boolean; readonly profile?: NamingProfile; readonly features?: Features } = {},
): WriteOptions {
  // An empty `dryRun` counts as absent.
  const dryRun = (query.get('dryRun') ?? []).filter((value) => value !== '')
  const manager = text(query, 'fieldManager') ?? ''
  const validation = text(query, 'fieldValidation') ?? ''
  const force = query.has('force') ? flag(query, 'force') : undefined
  const errors: FieldError[] = []
  if (kind === 'PatchOptions' && !apply && force !== undefined) {
    errors.push({ field: 'force', reason: 'FieldValueForbidden', message: 'Forbidden: may not be specified for non-apply patch' })
  }
  if (apply && manager === '') {
    errors.push({ field: 'fieldManager', reason: 'FieldValueRequired', message: 'Required value: is required for apply patch' })
  }
  errors.push(...validateFieldManager(manager), ...validateDryRun(dryRun))
  if (validation !== '' && validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    errors.push({
      field: 'fieldValidation',
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${goQuote(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
    })
  }
  if (errors.length > 0) throw ApiError.invalid({ group: metaGroup(profile), kind }, '', errors, features)
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager,
    fieldValidation: validation === '' ? 'Warn' : (validation as 'Ignore' | 'Warn' | 'Strict'),
    force,
  }
}

const maxManagerBytes = 128

const plainManager = /^[ -~]{0,128}$/

function validateFieldManager(manager: string): FieldError[] {
  if (plainManager.test(manager)) return []
  const errors: FieldError[] = []
  if (new TextEncoder().encode(manager).byteLength > maxManagerBytes) {
    errors.push({
      field: 'fieldManager',
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${maxManagerBytes} bytes`,
    })
  }
  let at = 0
  for (const character of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push({
        field: 'fieldManager',
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${goQuote(manager)}: invalid character U+${code} (at position ${at})`,
      })
      break
    }
    at += new TextEncoder().encode(character).byteLength
  }
  return errors
}
