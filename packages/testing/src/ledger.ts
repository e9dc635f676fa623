import type { RequestTrace } from '@krmkit/apiserver/request-trace'
import type { ControllerRun } from '@krmkit/controllers'
import { invalidOption, type Members } from './known-members.ts'
import { checkKind, checkKinds } from './option-kinds.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { checkMatch, formatMatch, type Match, matches, matchMembers } from './request-match.ts'
import { TestingError } from './testing-error.ts'

/** One request. */
export interface LedgerEntry extends RequestAttributes {
  readonly user: string
  /** HTTP status of the response; 0 when a fault lost it. */
  readonly code: number
  /** Time of the response on the clock of the server, in milliseconds since the epoch. */
  readonly atMs: number
  /** Sent by the controllers of the test server. */
  readonly isController: boolean
  readonly userAgent: string
  /** Processing time in milliseconds of the system clock. Absent if the server keeps no traces. */
  readonly durationMs?: number
  /** Bytes of the request body that the server read. Absent if the server keeps no traces. */
  readonly requestBytes?: number
  /** Bytes of the response body; absent for streams. */
  readonly responseBytes?: number
  /** The stream of a watch. Absent for other requests, and for watches of controllers. */
  readonly watch?: WatchRecord
  /** The decisions of the server. Absent if the server keeps no traces, and for old entries. */
  readonly trace?: RequestTrace
  /** The body of a write; kept as long as the trace. */
  readonly body?: RequestContent
}

/** The progress of a watch stream. */
export interface WatchRecord {
  /** Number of delivered events, bookmarks included. */
  readonly events: number
  /** End on the clock of the server, in milliseconds since the epoch. Absent while the watch is open. */
  readonly endedAtMs?: number
}

/** The body of a request. */
export interface RequestContent {
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** One run of a controller, with its position among the requests. */
export interface LedgerRun extends ControllerRun {
  /** Number of requests that were recorded before its end, since the start or the last `clear`. */
  readonly requestsBefore: number
  /** Whether the run is of a controller of the test server. */
  readonly isController: boolean
}

type StoredEntry = { -readonly [K in keyof LedgerEntry]: LedgerEntry[K] }

/** Selects entries. Entries of controllers are included only with `controllers`. */
export interface LedgerMatch extends Match {
  readonly code?: number
  readonly controllers?: boolean
}

const ledgerMatchMembers: Members<LedgerMatch> = { ...matchMembers, code: true, controllers: true }

/** Number of traces that a test server keeps by default. */
export const defaultTraces = 2000

/** The requests to a test server, oldest first, except those of the seed. */
export class Ledger {
  readonly #limit: number
  readonly #traceLimit: number
  readonly #traceBytes: number
  #entries: LedgerEntry[] = []
  /** Entries with a trace, oldest first. */
  #traced: { readonly entry: StoredEntry; readonly bytes: number }[] = []
  #tracedBytes = 0
  #runs: LedgerRun[] = []
  #recorded = 0

  /**
   * @param limit number of entries to keep; the oldest are dropped
   * @param traceLimit number of entries that keep their trace; the newest
   * @param traceBytes bytes of all traces; the newest trace is always kept
   */
  constructor(limit = 10_000, traceLimit = defaultTraces, traceBytes = Number.POSITIVE_INFINITY) {
    this.#limit = limit
    this.#traceLimit = traceLimit
    this.#traceBytes = traceBytes
  }

  /** All entries, including those of controllers. */
  get entries(): readonly LedgerEntry[] {
    return this.#entries
  }

  /** The runs of controllers of the server and of `cluster.run`, ordered by their end. */
  get runs(): readonly LedgerRun[] {
    return this.#runs
  }

  /** Number of dropped requests that were recorded before the first of `entries`. */
  get dropped(): number {
    return this.#recorded - this.#entries.length
  }

  /** @throws TestingError `InvalidOption` for an unknown member */
  find(match: LedgerMatch = {}): readonly LedgerEntry[] {
    checkMatch(match, ledgerMatchMembers)
    checkKinds('a match of requests', match, { code: 'count', controllers: 'flag' })
    const { code, controllers = false } = match
    return this.#entries.filter(
      (entry) => (controllers || !entry.isController) && (code === undefined || entry.code === code) && matches(match, entry),
    )
  }

  count(match: LedgerMatch = {}): number {
    return this.find(match).length
  }

  /** Expects `times` matching requests, by default at least one. @throws TestingError `Unexpected` */
  expect(match: LedgerMatch, times?: number): readonly LedgerEntry[] {
    if (times !== undefined) checkKind('times', times, 'count')
    requireMatch(match)
    const found = this.find(match)
    if (times === undefined ? found.length > 0 : found.length === times) return found
    const wanted = times === undefined ? 'at least one request' : `${times} requests`
    throw new TestingError({
      code: 'Unexpected',
      message: `expected ${wanted} matching "${formatMatch(match)}", found ${found.length}; the last requests were\n${this.#tail()}`,
    })
  }

  /** Expects no matching request. @throws TestingError `Unexpected` */
  expectNone(match: LedgerMatch): void {
    requireMatch(match)
    this.expect(match, 0)
  }

  clear(): void {
    this.#entries = []
    this.#traced = []
    this.#tracedBytes = 0
    this.#runs = []
    this.#recorded = 0
  }

  /** Called by the server: adds an entry. @param bytes of its trace and body */
  record(entry: LedgerEntry, bytes = 0): void {
    this.#recorded++
    this.#entries.push(entry)
    // Drops entries in batches, which is cheaper.
    if (this.#entries.length > this.#limit * 1.25) this.#entries = this.#entries.slice(-this.#limit)
    if (entry.trace === undefined) return
    this.#traced.push({ entry, bytes })
    this.#tracedBytes += bytes
    if (this.#traced.length > this.#traceLimit * 1.25) this.#dropTraces(this.#traced.length - this.#traceLimit)
    if (this.#tracedBytes > this.#traceBytes) this.#dropTraces(this.#heavyTraces())
  }

  /** Called by the server: adds a run of a controller. */
  recordRun(run: ControllerRun, { isController }: { readonly isController: boolean }): void {
    this.#runs.push({ ...run, isController, requestsBefore: this.#recorded })
    if (this.#runs.length > this.#limit * 1.25) this.#runs = this.#runs.slice(-this.#limit)
  }

  /** Returns the number of oldest traces to drop so that the others fit the limit, with some reserve. */
  #heavyTraces(): number {
    let left = this.#tracedBytes
    let count = 0
    while (left > this.#traceBytes * 0.75 && count < this.#traced.length - 1) left -= this.#traced[count++]!.bytes
    return count
  }

  #dropTraces(count: number): void {
    for (const { entry, bytes } of this.#traced.slice(0, count)) {
      delete entry.trace
      delete entry.body
      this.#tracedBytes -= bytes
    }
    this.#traced = this.#traced.slice(count)
  }

  #tail(): string {
    return formatEntries(this.#entries.filter(({ isController }) => !isController).slice(-10))
  }
}

/** Formats entries, one indented line each: `  409 update /api/v1/namespaces/default/pods/web (bob)`. */
export function formatEntries(entries: readonly LedgerEntry[]): string {
  return entries
    .map(({ verb, path, query, user, code }) => `  ${code} ${verb} ${path}${query === '' ? '' : `?${query}`} (${user})`)
    .join('\n')
}

/** Requires a match: without one, `expectNone` would reject any request. @throws TestingError `InvalidOption` */
function requireMatch(match: LedgerMatch): void {
  if (match === undefined) throw invalidOption("which requests are expected? { verb: 'create', resource: 'pods' }")
}
