import type { ReleaseCalendar } from './interfaces.ts'
import { VersioningError } from './versioning-error.ts'

/** Arithmetic of releases such as `1.33`. */

const monthsPerRelease = 4

/** @throws VersioningError `InvalidRelease` */
function parse(release: string): { readonly major: number; readonly minor: number } {
  const match = /^v?(\d{1,4})\.(\d{1,4})(?:\.|$)/.exec(release)
  if (match === null)
    throw new VersioningError({
      code: 'InvalidRelease',
      message: `${JSON.stringify(release)} is not a release; expected a form like 1.33`,
    })
  return { major: Number(match[1]), minor: Number(match[2]) }
}

/**
 * Orders releases: negative when `a` is older. Patch versions are ignored.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { compareReleases } from '@krmkit/versioning'
 * compareReleases('1.9', '1.33') < 0 // true
 */
export function compareReleases(a: string, b: string): number {
  const [one, two] = [parse(a), parse(b)]
  return one.major - two.major || one.minor - two.minor
}

/** @throws VersioningError `InvalidRelease` */
export function sameMajor(a: string, b: string): boolean {
  return parse(a).major === parse(b).major
}

/**
 * Returns the number of minor releases from `from` to `to`; infinite across major releases.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { releasesBetween } from '@krmkit/versioning'
 * releasesBetween('1.29', '1.33') // 4
 */
export function releasesBetween(from: string, to: string): number {
  const [one, two] = [parse(from), parse(to)]
  if (one.major !== two.major) return two.major > one.major ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  return two.minor - one.minor
}

/**
 * Returns the months between two releases: by the calendar if it contains both, or else four per minor release.
 *
 * @throws VersioningError `InvalidRelease`
 * @example
 * import { monthsBetween } from '@krmkit/versioning'
 * monthsBetween('1.30', '1.33') // 12
 */
export function monthsBetween(from: string, to: string, calendar: ReleaseCalendar = {}): number {
  const [start, end] = [dayOf(from, calendar), dayOf(to, calendar)]
  return start === undefined || end === undefined ? releasesBetween(from, to) * monthsPerRelease : calendarMonths(start, end)
}

/** Returns whole months and a fraction: from 31 January to 30 April, two whole months and a fraction. */
function calendarMonths(start: number, end: number): number {
  const [from, to] = [new Date(start), new Date(end)]
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
  const days = to.getUTCDate() - from.getUTCDate()
  return days >= 0 ? months + days / 31 : months - 1 + (31 + days) / 31
}

function dayOf(release: string, calendar: ReleaseCalendar): number | undefined {
  const { major, minor } = parse(release)
  const key = `${major}.${minor}`
  const day = Object.hasOwn(calendar, key) ? Date.parse(calendar[key] ?? '') : Number.NaN
  return Number.isNaN(day) ? undefined : day
}
