import type { Fault } from './fault.ts'
import type { FailFault } from './fault-status.ts'
import { checkMembers, type Members } from './known-members.ts'
import { checkKinds, shown } from './option-kinds.ts'
import type { Match } from './request-match.ts'
import { TestingError } from './testing-error.ts'
import type { WatchEnd, WatchFault } from './watch-fault.ts'

/** Validates faults, because mistakes would otherwise be ignored silently. */

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
  // Infinity means all requests.
  if (times !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(times) && times >= 1))
    throw invalidFault(`times: ${shown(times)} is not a number of requests from 1`)
  if (!(Number.isSafeInteger(after) && after >= 0)) throw invalidFault(`after: ${shown(after)} is not a number of requests`)
  return options
}

/** @throws TestingError `InvalidFault`, `InvalidOption` */
export function checkFault(match: Match, fault: Fault): void {
  if (typeof fault !== 'object' || fault === null)
    throw invalidFault(`a fault has one of ${Object.keys(kinds).join(', ')}; given: ${shown(fault)}`)
  const given = Object.keys(kinds).filter((kind) => kind in fault)
  const [kind] = given
  if (kind === undefined || given.length !== 1) {
    const members = Object.keys(fault).join(', ') || 'none'
    throw invalidFault(`a fault has one of ${Object.keys(kinds).join(', ')}; given: ${members}`)
  }
  checkMembers(`a fault with ${kind}`, fault, kinds[kind] ?? {})
  if ('fail' in fault) checkFail(match, fault)
  checkKinds(`a fault with ${kind}`, fault, { lose: 'set', unreachable: 'set', compact: 'set', stale: 'set' })
  if ('delayMs' in fault) checkDelay('delayMs', fault.delayMs)
  if ('watch' in fault) checkWatchFault(match, fault.watch)
}

function checkFail({ verb }: Match, fault: FailFault): void {
  const { fail, afterWrite = false } = fault
  if (!(Number.isSafeInteger(fail) && fail >= 400 && fail <= 599))
    throw invalidFault(`fail: ${shown(fail)} is not a status of an error`)
  checkKinds('a fault with fail', fault, {
    reason: 'text',
    message: 'text',
    retryAfterSeconds: 'count',
    afterWrite: 'flag',
  })
  const verbs = verb === undefined ? [] : [verb].flat()
  if (afterWrite && verbs.length > 0 && verbs.every((each) => readVerbs.has(each)))
    throw invalidFault(`afterWrite: the verb ${verbs.join(', ')} writes nothing`)
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

function checkWatchFault({ verb }: Match, watch: WatchFault): void {
  const verbs = verb === undefined ? [] : [verb].flat()
  if (verbs.length > 0 && !verbs.includes('watch')) {
    throw invalidFault(`only watches have a stream, but the verb is ${verbs.join(', ')}`)
  }
  checkMembers('a fault of a watch', watch, watchMembers)
  const { end, bookmarks, delayMs = 0, afterEvents = 0 } = watch
  if (end !== undefined) checkWatchEnd(end)
  checkDelay('watch.delayMs', delayMs)
  if (!(Number.isSafeInteger(afterEvents) && afterEvents >= 0))
    throw invalidFault(`watch.afterEvents: ${shown(afterEvents)} is not a number of events`)
  if (end === undefined && bookmarks === undefined && watch.delayMs === undefined)
    throw invalidFault('a fault of a watch needs one of end, bookmarks, delayMs')
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
  if (!(Number.isFinite(ms) && ms >= 0)) throw invalidFault(`${path}: ${ms} is not a number of milliseconds`)
}

export function invalidFault(message: string): TestingError {
  return new TestingError({ code: 'InvalidFault', message })
}
