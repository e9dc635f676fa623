/** Durations in the short form of `kubectl get`: two units at most, coarser the longer they are. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * Formats an age as in the columns of a Table: `5s`, `119s`, `2m`, `9m59s`, `3h`, `7h59m`, `47h`, `2d1h`, `730d`, `2y1d`, `8y`.
 *
 * Up to two seconds below zero count as zero, because clocks differ; below that the text is `<invalid>`.
 *
 * @example
 * import { humanDuration } from '@krmkit/kinds/printers'
 * humanDuration(125_000) // '2m5s'
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / second)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(ms / minute)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(ms / hour)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return pair(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2920 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}

/** Time since `time`; `<unknown>` if it is unset. `now` is in milliseconds since the epoch. */
export function since(time: string | null | undefined, now: number): string {
  const at = parseTimestamp(time)
  return at === undefined ? '<unknown>' : humanDuration(now - at)
}

/** Milliseconds since the epoch; undefined if the time is unset. */
export function parseTimestamp(time: string | null | undefined): number | undefined {
  if (time === undefined || time === null) return undefined
  const at = Date.parse(time)
  return Number.isNaN(at) ? undefined : at
}
