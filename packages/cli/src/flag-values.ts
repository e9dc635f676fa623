import { isIP } from 'node:net'
import { validateCIDR } from '@krmkit/base/ip'
import { parseDurationMs } from '@krmkit/meta/time'
import { parseFeatureGates, VersioningError } from '@krmkit/versioning'
import { InvalidArgumentError, type Option, option } from './commander.ts'

/**
 * Parsers of flag values. Each throws InvalidArgumentError with a sentence that states the accepted form; commander puts the flag before
 * it.
 */

/** A flag with a boolean value; the flag alone is `true`. */
export function booleanOption(name: string, description: string, value: boolean): Option {
  return option(`${name} [bool]`, description).default(value).argParser(flag)
}

/** A flag with a duration. @param value default in milliseconds @param text the default as help prints it */
export function durationOption(name: string, description: string, value: number, text?: string): Option {
  return option(`${name} <duration>`, description).default(value, text).argParser(duration)
}

export function integer(range: { readonly min: number; readonly max: number }): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{1,15}$/.test(text) && value >= range.min && value <= range.max) return value
    throw new InvalidArgumentError(`It must be a whole number between ${range.min} and ${range.max}.`)
  }
}

export function fraction(range: { readonly min: number; readonly max: number }): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{0,10}\.?\d{1,10}$/.test(text) && value >= range.min && value <= range.max) return value
    throw new InvalidArgumentError(`It must be a number between ${range.min} and ${range.max}.`)
  }
}

/** A boolean; `true` for a flag without a value. */
export function flag(text: string | undefined): boolean {
  if (text === undefined || text === 'true') return true
  if (text === 'false') return false
  throw new InvalidArgumentError('It must be true or false.')
}

/** A duration such as `1m30s`, in milliseconds. */
export function duration(text: string): number {
  try {
    const ms = parseDurationMs(text)
    if (ms >= 0) return ms
  } catch {
    // Reported by the error below.
  }
  throw new InvalidArgumentError('It must be a duration, such as 30s or 1m30s.')
}

export function address(text: string): string {
  if (isIP(text) !== 0) return text
  throw new InvalidArgumentError('It must be an IP address.')
}

/** A CIDR, or two CIDRs of both address families separated by a comma. */
export function addressRange(text: string): string {
  const ranges = text.split(',')
  if (ranges.length <= 2 && ranges.every((range) => validateCIDR(range).length === 0)) return text
  throw new InvalidArgumentError('It must be an address range, such as 10.96.0.0/12.')
}

/** A range of ports: `30000-32767`, `30000+2767` (first port and number of further ports) or a single port. */
export function portRange(text: string): { readonly from: number; readonly to: number } {
  const [, first = '', sign, second = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text) ?? []
  const from = Number(first)
  const to = sign === undefined ? from : sign === '-' ? Number(second) : from + Number(second)
  if (first !== '' && from > 0 && from <= to && to <= 65_535) return { from, to }
  throw new InvalidArgumentError('It must be a range of ports, such as 30000-32767.')
}

/** Comma-separated items; repeated flags are concatenated. An empty text is an empty list; an empty item is an error. */
export function list(text: string, before: readonly string[] = []): readonly string[] {
  const items = text === '' ? [] : text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new InvalidArgumentError('It must be a list with commas between its items.')
  return [...before, ...items]
}

/** Collects the values of a repeated flag; commas are part of the value. */
export function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

/** A release that can be emulated: `1.24`, or `kube=1.24` as kube-apiserver spells it. */
export function emulatedVersion(text: string): string {
  const minor = Number(/^(?:kube=)?v?1\.(\d{1,3})(?:\.\d{1,4})?$/.exec(text)?.[1])
  if (minor >= 21 && minor <= 37) return `1.${minor}`
  throw new InvalidArgumentError('It must be a release from 1.21 to 1.37, such as 1.24 or kube=1.24.')
}

/** A Kubernetes release, such as `1.33` or `v1.33.2`. */
export function release(text: string): string {
  const found = /^v?(\d{1,2}\.\d{1,3})(?:\.\d{1,4})?(?:[-+][\w.+-]{0,60})?$/.exec(text)
  if (found?.[1] === undefined) throw new InvalidArgumentError('It must be a release, such as 1.33.')
  return found[1]
}

/** The name of a field manager. */
export function managerName(text: string): string {
  if (text !== '' && text.length <= 128 && /^\P{C}*$/u.test(text)) return text
  throw new InvalidArgumentError('It must be 1 to 128 printable characters.')
}

/** `Name=true,Other=false`; the flag may be repeated. The command decides whether the gates exist. */
export function gates(text: string, before: Readonly<Record<string, boolean>> = {}): Readonly<Record<string, boolean>> {
  try {
    return { ...before, ...Object.fromEntries(parseFeatureGates(text)) }
  } catch (cause) {
    if (cause instanceof VersioningError) throw new InvalidArgumentError(cause.message)
    throw cause
  }
}

/** `name=value,other=value`; the flag may be repeated. */
export function pairs(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const found = list(text).map((item) => {
    const [name = '', value = '', ...rest] = item.split('=')
    if (name === '' || value === '' || rest.length > 0) throw new InvalidArgumentError('It must be a list such as name=value.')
    return [name, value]
  })
  return { ...before, ...Object.fromEntries(found) }
}

/** Comma-separated regular expressions for origins. */
export function origins(text: string, before: readonly RegExp[] = []): readonly RegExp[] {
  const patterns = text
    .split(',')
    .filter((item) => item !== '')
    .map((item) => {
      try {
        return new RegExp(item)
      } catch {
        throw new InvalidArgumentError(`${JSON.stringify(item)} is not a regular expression.`)
      }
    })
  return [...before, ...patterns]
}

/** Directives of the header Strict-Transport-Security. */
export function transportDirectives(text: string, before: readonly string[] = []): readonly string[] {
  const directives = text.split(',').filter((item) => item !== '')
  const wrong = directives.find((item) => !/^(?:includeSubDomains|preload|max-age=\d+)$/.test(item))
  if (wrong !== undefined) throw new InvalidArgumentError('It must be a list of max-age=SECONDS, includeSubDomains and preload.')
  return [...before, ...directives]
}

/** A log level of kube-apiserver, 0 to 10. */
export const verbosity = integer({ min: 0, max: 10 })
