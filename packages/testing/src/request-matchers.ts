import { formatRequest, formatValue } from './explanation.ts'
import { checkMembers, invalidOption } from './known-members.ts'
import { formatEntries, type Ledger, type LedgerEntry, type LedgerMatch } from './ledger.ts'
import type { MatcherResult } from './matcher-result.ts'
import { checkKind, checkKinds } from './option-kinds.ts'
import { formatMatch } from './request-match.ts'

/** Matchers for `expect` of vitest and jest. They accept a test server or its ledger, and skip requests of controllers. */

/** A test server or a ledger. */
export type RequestSource = Pick<Ledger, 'find' | 'entries'> | { readonly ledger: Pick<Ledger, 'find' | 'entries'> }

export interface RequestedOptions {
  /** Default 1, or 0 with `atMost`. */
  readonly atLeast?: number
  /** Default: no limit. */
  readonly atMost?: number
}

export interface HotLoopOptions {
  /** Maximum number of equal requests within the time. Default 10. */
  readonly atMost?: number
  /** Length of the time on the clock of the server, in milliseconds. Default 1000. */
  readonly withinMs?: number
  /** Default: all requests except those of controllers. */
  readonly match?: LedgerMatch
}

/** The matchers as members of an assertion. */
export interface RequestMatchers<R = unknown> {
  /**
   * Passes when matching requests were sent.
   *
   * @param pattern `update deployments/status`, `create pods`, `* secrets`, or a match of the ledger
   */
  toHaveRequested(pattern: string | LedgerMatch, options?: RequestedOptions): R
  /** Fails when a user repeats the same request more than `atMost` times within `withinMs`. */
  toHaveNoHotLoop(options?: HotLoopOptions): R
  /** Fails when a list has no `limit`. Lists of one object by name need none. */
  toHaveNoUnboundedLists(match?: LedgerMatch): R
  /** Fails when a write was accepted but did not change the stored object. */
  toHaveNoUnneededWrites(match?: LedgerMatch): R
}

/**
 * Matchers to pass to `expect.extend`.
 *
 * @example
 * import { requestMatchers } from '@krmkit/testing/matchers'
 * import { expect } from 'vitest'
 * expect.extend(requestMatchers)
 */
export const requestMatchers = {
  toHaveRequested(source: RequestSource, pattern: string | LedgerMatch, options: RequestedOptions = {}): MatcherResult {
    const ledger = ledgerOf(source)
    const { atLeast, atMost } = boundsOf(options)
    if (pattern === undefined) throw invalidOption("which requests? toHaveRequested('create pods')")
    const match = typeof pattern === 'string' ? parsePattern(pattern) : pattern
    const found = ledger.find(match)
    const wanted = formatCount(atLeast, atMost)
    const shown = found.length > 0 ? found : ledger.find().slice(-shownEntries)
    const heading = found.length > 0 ? 'the matching requests' : 'the last requests'
    return {
      pass: found.length >= atLeast && found.length <= atMost,
      message: () =>
        `expected ${wanted} matching "${formatMatch(match)}", found ${found.length}; ${heading} were\n${formatShown(shown)}`,
    }
  },

  toHaveNoHotLoop(source: RequestSource, options: HotLoopOptions = {}): MatcherResult {
    checkMembers('toHaveNoHotLoop', options, { atMost: true, withinMs: true, match: true })
    checkKinds('toHaveNoHotLoop', options, { atMost: 'count', withinMs: 'milliseconds' })
    const { atMost = 10, withinMs = 1000, match = {} } = options
    const loops = hotLoops(ledgerOf(source).find(match), atMost, withinMs)
    const lines = loops.map((entries) => `${entries.length} times within ${withinMs} ms: ${describe(entries[0]!)}`)
    return {
      pass: loops.length === 0,
      message: () =>
        loops.length === 0
          ? `expected a request more than ${atMost} times within ${withinMs} ms, found none`
          : `expected no request more than ${atMost} times within ${withinMs} ms, found\n${indent(lines)}`,
    }
  },

  toHaveNoUnboundedLists(source: RequestSource, match: LedgerMatch = {}): MatcherResult {
    const found = ledgerOf(source)
      .find({ verb: 'list', ...match })
      .filter(isUnbounded)
    return {
      pass: found.length === 0,
      message: () =>
        found.length === 0
          ? 'expected a list without limit, found none'
          : `expected every list to have a limit, found\n${formatShown(found)}`,
    }
  },

  toHaveNoUnneededWrites(source: RequestSource, match: LedgerMatch = {}): MatcherResult {
    const found = ledgerOf(source).find(match).filter(isUnneeded)
    return {
      pass: found.length === 0,
      message: () =>
        found.length === 0
          ? 'expected a write that changes nothing, found none'
          : `expected every write to change its object, found writes that changed nothing\n${formatShown(found)}`,
    }
  },
} as const

const shownEntries = 20

/** @throws TestingError `InvalidOption` */
function ledgerOf(source: RequestSource): Pick<Ledger, 'find' | 'entries'> {
  const ledger = 'ledger' in Object(source) ? (source as { readonly ledger: Ledger }).ledger : (source as Ledger)
  if (typeof Object(ledger).find !== 'function') throw invalidOption('expect needs a test server or its ledger')
  return ledger
}

/** @throws TestingError `InvalidOption` */
function boundsOf(options: RequestedOptions): Required<RequestedOptions> {
  checkMembers('toHaveRequested', options, { atLeast: true, atMost: true })
  const { atMost = Number.POSITIVE_INFINITY } = options
  const { atLeast = atMost === Number.POSITIVE_INFINITY ? 1 : 0 } = options
  for (const [name, value] of Object.entries({ atLeast, atMost }))
    if (value !== Number.POSITIVE_INFINITY) checkKind(`toHaveRequested: ${name}`, value, 'count')
  if (atLeast > atMost) throw invalidOption(`toHaveRequested: atLeast ${atLeast} is more than atMost ${atMost}`)
  return { atLeast, atMost }
}

/** Parses `verb resource/subresource`; `*` is any verb or resource. */
function parsePattern(pattern: string): LedgerMatch {
  const [verb = '*', target = '*', ...rest] = pattern.trim().split(/\s+/)
  if (rest.length > 0)
    throw invalidOption(`pattern ${formatValue(pattern)} has more than two words; use a match: { verb, resource }`)
  const [resource = '*', subresource = ''] = target.split('/')
  return { ...(verb === '*' ? {} : { verb }), ...(resource === '*' ? {} : { resource, subresource }) }
}

function formatCount(atLeast: number, atMost: number): string {
  if (atMost === Number.POSITIVE_INFINITY) return `at least ${atLeast} requests`
  return atLeast === 0 ? `at most ${atMost} requests` : `${atLeast} to ${atMost} requests`
}

function formatShown(entries: readonly LedgerEntry[]): string {
  const more = entries.length - shownEntries
  return `${formatEntries(entries.slice(0, shownEntries))}${more > 0 ? `\n  and ${more} more` : ''}`
}

function describe(entry: LedgerEntry): string {
  return `${formatRequest(entry)} by ${entry.user}, last status ${entry.code}`
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n')
}

/** Returns for each request the longest run of repetitions within the time, if it exceeds `atMost`. */
function hotLoops(entries: readonly LedgerEntry[], atMost: number, withinMs: number): (readonly LedgerEntry[])[] {
  const groups = new Map<string, LedgerEntry[]>()
  for (const entry of entries) {
    const key = JSON.stringify([entry.user, entry.method, entry.path, entry.query])
    const group = groups.get(key) ?? []
    group.push(entry)
    groups.set(key, group)
  }
  const loops: (readonly LedgerEntry[])[] = []
  for (const group of groups.values()) {
    let longest: readonly LedgerEntry[] = []
    let first = 0
    for (let last = 0; last < group.length; last++) {
      while (group[last]!.atMs - group[first]!.atMs > withinMs) first++
      if (last - first + 1 > longest.length) longest = group.slice(first, last + 1)
    }
    if (longest.length > atMost) loops.push(longest.toReversed())
  }
  return loops
}

function isUnbounded({ query }: LedgerEntry): boolean {
  const parameters = new URLSearchParams(query)
  const isOne = /(^|,)metadata\.name=/.test(parameters.get('fieldSelector') ?? '')
  return Number(parameters.get('limit') ?? 0) === 0 && !isOne
}

function isUnneeded({ trace }: LedgerEntry): boolean {
  const writes = trace?.writes ?? []
  return writes.length > 0 && writes.every(({ before, after }) => before !== undefined && before === after)
}
