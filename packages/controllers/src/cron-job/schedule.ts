import { parseDurationMs } from '@krmkit/meta/time'
import { type LocalTime, localTime, offsetMs, utcOfLocalMidnight } from './time-zone.ts'

/** Cron schedules: five fields or a macro, in a time zone. */
export interface Schedule {
  /** Returns the first time after `ms`; undefined when there is none within five years. All in milliseconds since the epoch. */
  next(ms: number): number | undefined
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/**
 * Parses a schedule.
 *
 * @param timeZone name in the time zone database; a zone in the text (`TZ=...`) takes precedence. Default: UTC
 * @returns undefined when the schedule or the zone is invalid
 */
export function parseSchedule(text: string, timeZone = 'UTC'): Schedule | undefined {
  const zoned = /^(?:CRON_)?TZ=(\S+)\s+(\S.*)$/s.exec(text.trim())
  const zone = zoned?.[1] ?? timeZone
  const spec = (zoned?.[2] ?? text).trim()
  if (localTime(0, zone) === undefined) return undefined
  if (spec.startsWith('@every ')) return everySchedule(spec.slice('@every '.length))
  return fieldSchedule((macros[spec] ?? spec).split(/\s+/), zone)
}

function everySchedule(text: string): Schedule | undefined {
  let ms: number
  try {
    ms = parseDurationMs(text)
  } catch {
    return undefined
  }
  const seconds = Math.max(1, Math.floor(ms / 1000))
  return { next: (after) => Math.floor(after / 1000) * 1000 + seconds * 1000 }
}

interface Field {
  readonly values: ReadonlySet<number>
  /** Whether the field is `*`, or a list that contains `*`. */
  readonly isAny: boolean
}

function fieldSchedule(texts: readonly string[], zone: string): Schedule | undefined {
  const [minute, hour, day, month, weekday] = [
    parseField(texts[0], 0, 59),
    parseField(texts[1], 0, 23),
    parseField(texts[2], 1, 31),
    parseField(texts[3], 1, 12, months),
    parseField(texts[4], 0, 6, days),
  ]
  if (texts.length !== 5 || !minute || !hour || !day || !month || !weekday) return undefined
  const matchesDay = (time: LocalTime) => {
    const [ofMonth, ofWeek] = [day.values.has(time.day), weekday.values.has(time.weekday)]
    // When day of month and day of week are both restricted, either may match.
    return day.isAny || weekday.isAny ? ofMonth && ofWeek : ofMonth || ofWeek
  }
  // Advances to the next scheduled minute or the next hour, but not past a clock change.
  const msToMinute = (ms: number, from: number) => {
    let to = from + 1
    while (to < 60 && !minute.values.has(to)) to++
    const jump = (to - from) * minuteMs
    return offsetMs(ms, zone) === offsetMs(ms + jump, zone) ? jump : minuteMs
  }
  return {
    next(after) {
      let ms = Math.floor(after / minuteMs) * minuteMs + minuteMs
      const lastYear = localTime(ms, zone)!.year + 5
      for (;;) {
        const time = localTime(ms, zone)!
        if (time.year > lastYear) return undefined
        if (!month.values.has(time.month)) ms = utcOfLocalMidnight({ ...time, month: time.month + 1, day: 1 }, zone)
        else if (!matchesDay(time)) ms = utcOfLocalMidnight({ ...time, day: time.day + 1 }, zone)
        else if (!hour.values.has(time.hour)) ms += hourMs - time.minute * minuteMs
        else if (!minute.values.has(time.minute)) ms += msToMinute(ms, time.minute)
        else return ms
      }
    },
  }
}

/** Parses a list of ranges: `1,5-10/2,*`. */
function parseField(text: string | undefined, min: number, max: number, names: readonly string[] = []): Field | undefined {
  if (text === undefined) return undefined
  const values = new Set<number>()
  let isAny = false
  for (const range of text.split(',').filter((part) => part !== '')) {
    const match = /^(\*|\?|[a-z]+|\d+)(?:-([a-z]+|\d+))?(?:\/(\d+))?$/i.exec(range)
    if (match === null) return undefined
    const [, first = '', last, stepText] = match
    const isStar = first === '*' || first === '?'
    const start = isStar ? min : readNumber(first, min, names)
    const end = isStar || (last === undefined && stepText !== undefined) ? max : readNumber(last ?? first, min, names)
    const step = Number(stepText ?? '1')
    if (start === undefined || end === undefined || start < min || end > max || start > end || step === 0) return undefined
    if (isStar && step === 1) isAny = true
    for (let value = start; value <= end; value += step) values.add(value)
  }
  return { values, isAny }
}

function readNumber(text: string, min: number, names: readonly string[]): number | undefined {
  if (/^\d+$/.test(text)) return Number(text)
  const named = names.indexOf(text.toLowerCase())
  return named < 0 ? undefined : named + min
}
