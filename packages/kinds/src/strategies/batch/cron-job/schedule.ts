/** Cron schedules: five fields, or a macro such as `@daily`. */

import type { Work } from '@krmkit/base/work'
import { MetaError, parseDuration } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { isTimeZone } from '@krmkit/meta/time'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: ReadonlyMap<string, number>
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Minute, hour, day of month, month, day of week. */
const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: new Map(months.map((name, i) => [name, i + 1])) },
  { min: 0, max: 6, names: new Map(days.map((name, i) => [name, i])) },
]

const descriptors = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const every = '@every '

/** Ranges that are checked in one step. */
const rangesPerStep = 1000

/** The error of a schedule, in the text of kube-apiserver; undefined if it is valid. */
export function* scheduleError(text: string): Work<string | undefined> {
  let spec = text
  if (spec.startsWith('TZ=') || spec.startsWith('CRON_TZ=')) {
    const space = spec.indexOf(' ')
    const zone = spec.slice(spec.indexOf('=') + 1, space === -1 ? undefined : space)
    if (space === -1 || !isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`
    spec = spec.slice(space).trim()
  }
  if (spec.startsWith('@')) return descriptorError(spec)
  const parts = spec.split(/\s+/).filter((part) => part !== '')
  if (parts.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`
  }
  for (const [i, bounds] of fields.entries()) {
    let count = 0
    for (const range of parts[i]!.split(',')) {
      const error = range === '' ? undefined : rangeError(range, bounds)
      if (error !== undefined) return error
      if (++count % rangesPerStep === 0) yield true
    }
  }
  return undefined
}

function descriptorError(spec: string): string | undefined {
  if (descriptors.has(spec)) return undefined
  if (!spec.startsWith(every)) return `unrecognized descriptor: ${spec}`
  try {
    parseDuration(spec.slice(every.length))
    return undefined
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
    return `failed to parse duration ${spec}: ${error.message}`
  }
}

function rangeError(text: string, { min, max, names }: Bounds): string | undefined {
  const slashes = text.split('/')
  const hyphens = slashes[0]!.split('-')
  const single = hyphens.length === 1
  let start = min
  let end = max
  if (hyphens[0] !== '*' && hyphens[0] !== '?') {
    const first = readNumber(hyphens[0]!, names)
    if (typeof first === 'string') return first
    if (hyphens.length > 2) return `too many hyphens: ${text}`
    const last = single ? first : readNumber(hyphens[1]!, names)
    if (typeof last === 'string') return last
    start = first
    end = last
  }
  let step = 1
  if (slashes.length > 2) return `too many slashes: ${text}`
  if (slashes.length === 2) {
    const read = readNumber(slashes[1]!, undefined)
    if (typeof read === 'string') return read
    step = read
    if (single) end = max
  }
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined
}

/** A number, or an error. */
function readNumber(text: string, names: ReadonlyMap<string, number> | undefined): number | string {
  const named = names?.get(text.toLowerCase())
  if (named !== undefined) return named
  if (!/^[+-]?[0-9]+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}
