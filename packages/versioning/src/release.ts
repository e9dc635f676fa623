import type { ReleaseCalendar } from './interfaces.ts'
import { VersioningError } from './versioning-error.ts'

/** Arithmetic of releases. */

const monthsPerRelease = 4
const monthMs = (365.25 / 12) * 24 * 3_600_000

/** @throws VersioningError `InvalidRelease` */
function parse(release: string): { readonly major: number; readonly minor: number } {
  const match = /^v?(\d{1,4})\.(\d{1,4})(?:\.|$)/.exec(release)
  if (match === null) throw new VersioningError('InvalidRelease', `${JSON.stringify(release)} is no release: write it as 1.33`)
  return { major: Number(match[1]), minor: Number(match[2]) }
}

/** Below zero when `a` came first. @throws VersioningError `InvalidRelease` */
export function compareReleases(a: string, b: string): number {
  const [one, two] = [parse(a), parse(b)]
  return one.major - two.major || one.minor - two.minor
}

/** @throws VersioningError `InvalidRelease` */
export function sameMajor(a: string, b: string): boolean {
  return parse(a).major === parse(b).major
}

/** How many releases later `to` is; another major release is later than any number of minor ones. */
export function releasesBetween(from: string, to: string): number {
  const [one, two] = [parse(from), parse(to)]
  if (one.major !== two.major) return two.major > one.major ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  return two.minor - one.minor
}

/** Months from one release to another: by the calendar where it knows both, otherwise by their number. */
export function monthsBetween(from: string, to: string, calendar: ReleaseCalendar = {}): number {
  const [start, end] = [dayOf(from, calendar), dayOf(to, calendar)]
  return start === undefined || end === undefined ? releasesBetween(from, to) * monthsPerRelease : (end - start) / monthMs
}

function dayOf(release: string, calendar: ReleaseCalendar): number | undefined {
  const { major, minor } = parse(release)
  const key = `${major}.${minor}`
  const day = Object.hasOwn(calendar, key) ? Date.parse(calendar[key] ?? '') : Number.NaN
  return Number.isNaN(day) ? undefined : day
}
