import type { Fault } from './fault.ts'
import type { FailFault } from './fault-status.ts'
import { checkMembers, type Members } from './known-members.ts'
import type { Match } from './request-match.ts'
import { TestingError } from './testing-error.ts'
import type { WatchEnd, WatchFault } from './watch-fault.ts'

/** Checks of faults: what JavaScript would accept silently. */

export interface FaultOptions {
  /** Number of requests that fail. Default 1. */
  readonly times?: number
  /** Number of matching requests to skip first. Default 0. */
  readonly after?: number
}

const optionMembers: Members<FaultOptions> = { times: true, after: true }
const failMembers: Members<FailFault> = { fail: true, reason: true, message: true, retryAfterSeconds: true, afterWrite: true }
const watchMembers: Members<WatchFault> = { end: true, afterEvents: true, bookmarks: true, delayMs: true }
const ends: Readonly<Record<WatchEnd, true>> = { expired: true, closed: true, dropped: true, silent: true }

/** The kinds of faults, with their members. */
const kinds: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  fail: failMembers,
  delayMs: { delayMs: true },
  lose: { lose: true },
  unreachable: { unreachable: true },
  compact: { compact: true },
  stale: { stale: true },
  watch: { watch: true },
}

/** @throws TestingError `InvalidFault`, `InvalidOption` */
export function checkFaultOptions(options: FaultOptions): FaultOptions {
  checkMembers('the options of a fault', options, optionMembers)
  const { times = 1, after = 0 } = options
  if (!(times >= 1)) throw invalidFault(`times: ${times} is less than 1`)
  if (!(after >= 0)) throw invalidFault(`after: ${after} is negative`)
  return options
}

/** @throws TestingError `InvalidFault`, `InvalidOption` */
export function checkFault(match: Match, fault: Fault): void {
  const given = Object.keys(kinds).filter((kind) => kind in fault)
  const [kind] = given
  if (kind === undefined || given.length !== 1) {
    const members = Object.keys(fault).join(', ') || 'none'
    throw invalidFault(`a fault has one of ${Object.keys(kinds).join(', ')}; given: ${members}`)
  }
  checkMembers(`a fault with ${kind}`, fault, kinds[kind] ?? {})
  if ('fail' in fault && !(fault.fail >= 400 && fault.fail <= 599))
    throw invalidFault(`fail: ${fault.fail} is not a status of an error`)
  if ('delayMs' in fault) checkDelay('delayMs', fault.delayMs)
  if ('watch' in fault) checkWatchFault(match, fault.watch)
}

function checkWatchFault({ verb }: Match, watch: WatchFault): void {
  const verbs = verb === undefined ? [] : [verb].flat()
  if (verbs.length > 0 && !verbs.includes('watch')) {
    throw invalidFault(`only watches have a stream, but the verb is ${verbs.join(', ')}`)
  }
  checkMembers('a fault of a watch', watch, watchMembers)
  const { end, bookmarks, delayMs = 0, afterEvents = 0 } = watch
  if (end !== undefined) checkWatchEnd(end)
  checkDelay('watch.delayMs', delayMs)
  if (!(afterEvents >= 0)) throw invalidFault(`watch.afterEvents: ${afterEvents} is not a number of events`)
  if (bookmarks === undefined || bookmarks === 'lost') return
  if (typeof bookmarks !== 'object')
    throw invalidFault(`watch.bookmarks is 'lost' or { delayMs }, not ${JSON.stringify(bookmarks)}`)
  checkMembers('watch.bookmarks', bookmarks, { delayMs: true })
  checkDelay('watch.bookmarks.delayMs', bookmarks.delayMs)
}

/** @throws TestingError `InvalidFault` */
export function checkWatchEnd(end: WatchEnd): void {
  if (!Object.hasOwn(ends, end)) {
    throw invalidFault(`a watch ends as one of ${Object.keys(ends).join(', ')}, not ${JSON.stringify(end)}`)
  }
}

function checkDelay(path: string, ms: number): void {
  if (!(ms >= 0)) throw invalidFault(`${path}: ${ms} is not a number of milliseconds`)
}

export function invalidFault(message: string): TestingError {
  return new TestingError({ code: 'InvalidFault', message })
}
