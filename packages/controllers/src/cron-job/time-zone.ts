/** Wall clock time in a time zone. */
export interface LocalTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  /** 0 is Sunday. */
  readonly weekday: number
}

const formats = new Map<string, Intl.DateTimeFormat | undefined>()
const maxFormats = 500

/** Returns the wall clock time of an instant in milliseconds. Undefined when the time zone is unknown. */
export function localTime(ms: number, zone: string): LocalTime | undefined {
  const offset = offsetMs(ms, zone)
  if (offset === undefined) return undefined
  const date = new Date(ms + offset)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  }
}

/** Returns how far the clocks of a zone are ahead of UTC at an instant, in milliseconds. Undefined when the zone is unknown. */
export function offsetMs(ms: number, zone: string): number | undefined {
  if (zone === 'UTC' || zone === '') return 0
  const format = formatOf(zone)
  if (format === undefined) return undefined
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

/** Returns the instant at which a day begins. A day or month out of range carries over: January 32 is February 1. */
export function utcOfLocalMidnight({ year, month, day }: Pick<LocalTime, 'year' | 'month' | 'day'>, zone: string): number {
  const wall = Date.UTC(year, month - 1, day)
  const first = wall - (offsetMs(wall, zone) ?? 0)
  const second = wall - (offsetMs(first, zone) ?? 0)
  // When a clock change skips midnight, the day begins later.
  return localTime(second, zone)?.day === new Date(wall).getUTCDate() ? second : Math.max(first, second)
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formats.has(zone)) return formats.get(zone)
  const format = createFormat(zone)
  if (formats.size >= maxFormats) formats.clear()
  formats.set(zone, format)
  return format
}

function createFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric' as const
  const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric }
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', hourCycle: 'h23', ...fields })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
