import type { RequestInfo } from './request-info.ts'
import { formatMatch, type Match, matches } from './request-match.ts'
import { TestingError } from './testing-error.ts'

/** One answered request. */
export interface LedgerEntry extends RequestInfo {
  readonly user: string
  /** HTTP status of the answer; 0 when a fault cut it off. */
  readonly code: number
  /** When it was answered: milliseconds since the epoch, by the clock of the server. */
  readonly atMs: number
  /** Made by the controllers that run beside the server. */
  readonly isController: boolean
  readonly userAgent: string
}

/** Which entries are meant. Those of the controllers only when `controllers` is set. */
export interface LedgerMatch extends Match {
  readonly code?: number
  readonly controllers?: boolean
}

/** The requests that a test server has answered, oldest first. Those of the seed are not in it. */
export class Ledger {
  readonly #limit: number
  #entries: LedgerEntry[] = []

  /** @param limit entries that are kept; the oldest go first. */
  constructor(limit = 10_000) {
    this.#limit = limit
  }

  /** Everything, the requests of controllers too. */
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

  /** @throws TestingError `Unexpected` when there are not exactly `times` (default: at least one). */
  expect(match: LedgerMatch, times?: number): readonly LedgerEntry[] {
    const found = this.find(match)
    if (times === undefined ? found.length > 0 : found.length === times) return found
    const wanted = times === undefined ? 'at least one request' : `${times} requests`
    throw new TestingError({
      code: 'Unexpected',
      message: `expected ${wanted} like "${formatMatch(match)}", saw ${found.length}; the last ones were\n${this.#tail()}`,
    })
  }

  /** @throws TestingError `Unexpected` when there is one. */
  expectNone(match: LedgerMatch): void {
    this.expect(match, 0)
  }

  clear(): void {
    this.#entries = []
  }

  /** For the server: adds an entry. */
  record(entry: LedgerEntry): void {
    this.#entries.push(entry)
    // Seldom, and then many at once: cheaper than one by one.
    if (this.#entries.length > this.#limit * 1.25) this.#entries = this.#entries.slice(-this.#limit)
  }

  #tail(): string {
    const last = this.#entries.filter(({ isController }) => !isController).slice(-10)
    return last
      .map(({ verb, path, query, user, code }) => `  ${code} ${verb} ${path}${query === '' ? '' : `?${query}`} (${user})`)
      .join('\n')
  }
}
