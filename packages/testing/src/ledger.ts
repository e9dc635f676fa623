import type { RequestAttributes } from './request-attributes.ts'
import { formatMatch, type Match, matches } from './request-match.ts'
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
}

/** Selects entries. Those of controllers only with `controllers`. */
export interface LedgerMatch extends Match {
  readonly code?: number
  readonly controllers?: boolean
}

/** The requests to a test server, oldest first, without those of the seed. */
export class Ledger {
  readonly #limit: number
  #entries: LedgerEntry[] = []

  /** @param limit number of entries to keep; the oldest are dropped */
  constructor(limit = 10_000) {
    this.#limit = limit
  }

  /** All entries, including those of controllers. */
  get entries(): readonly LedgerEntry[] {
    return this.#entries
  }

  find(match: LedgerMatch = {}): readonly LedgerEntry[] {
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
    this.expect(match, 0)
  }

  clear(): void {
    this.#entries = []
  }

  /** Called by the server: adds an entry. */
  record(entry: LedgerEntry): void {
    this.#entries.push(entry)
    // Drops entries in batches, which is cheaper.
    if (this.#entries.length > this.#limit * 1.25) this.#entries = this.#entries.slice(-this.#limit)
  }

  #tail(): string {
    const last = this.#entries.filter(({ isController }) => !isController).slice(-10)
    return last
      .map(({ verb, path, query, user, code }) => `  ${code} ${verb} ${path}${query === '' ? '' : `?${query}`} (${user})`)
      .join('\n')
  }
}
