/**
 * A small backend as a user of the library writes one: a list of records is the medium, and every past state is replayed from it. It uses
 * the public types of `@krmkit/storage` alone.
 */
import { systemClock } from '@krmkit/meta'
import {
  type Encode,
  type Entry,
  type Revision,
  type Storage,
  StorageError,
  type StorageEvent,
  type StorageListOptions,
  type StorageListResult,
  type StorageOptions,
  type StorageWatchOptions,
  type StorageWriteOptions,
  type Watcher,
  type WriteResult,
} from '@krmkit/storage'
import { LogWatcher, matches } from './log-watcher.ts'

/** What survives a restart. */
export interface Medium {
  readonly events: StorageEvent[]
  /** The state at the oldest readable revision. */
  readonly base: Map<string, Entry>
  compacted: Revision
}

export function emptyMedium(): Medium {
  return { events: [], base: new Map(), compacted: 1 }
}

const eventBytes = 256

export class LogStorage implements Storage {
  readonly #medium: Medium
  readonly #options: Required<StorageOptions>
  /** When each event became visible. */
  readonly #times: number[]
  readonly #current: Map<string, Entry>
  readonly #watchers = new Set<LogWatcher>()
  readonly #waiting = new Set<() => void>()
  #isEncoding = false
  #isClosed = false

  constructor(medium: Medium, options: StorageOptions = {}) {
    const { clock = systemClock, historyMs = 300_000, historyBytes = 64 * 1024 * 1024, maxPending = 10_000 } = options
    const minHistoryMs = Math.min(options.minHistoryMs ?? 2000, historyMs)
    this.#medium = medium
    this.#options = { clock, historyMs, historyBytes, minHistoryMs, maxPending }
    this.#times = medium.events.map(() => clock.now())
    this.#current = this.#stateAt(this.revision)
  }

  get revision(): Revision {
    return this.#medium.events.at(-1)?.revision ?? this.#medium.compacted
  }

  get compacted(): Revision {
    this.#expire()
    return this.#medium.compacted
  }

  async get(key: string, { at }: { readonly at?: Revision } = {}): Promise<Entry | undefined> {
    this.#checkOpen()
    return at === undefined ? this.#current.get(key) : this.#readableAt(at).get(key)
  }

  peek(key: string): Entry | undefined {
    this.#checkOpen()
    return this.#current.get(key)
  }

  async list({ prefix, after = '', limit = 0, at }: StorageListOptions): Promise<StorageListResult> {
    this.#checkOpen()
    checkPath(prefix, 'prefix')
    const state = at === undefined ? this.#current : this.#readableAt(at)
    const found = [...state.values()].filter(({ key }) => matches(key, prefix) && compareKeys(key, after) > 0)
    found.sort((a, b) => compareKeys(a.key, b.key))
    const entries = limit === 0 ? found : found.slice(0, limit)
    return { entries, revision: at ?? this.revision, remaining: found.length - entries.length }
  }

  count(prefix: string): number {
    this.#checkOpen()
    checkPath(prefix, 'prefix')
    return [...this.#current.keys()].filter((key) => matches(key, prefix)).length
  }

  async put(key: string, encode: Encode, options: StorageWriteOptions = {}): Promise<WriteResult> {
    return this.#write('put', key, encode, options)
  }

  async delete(key: string, encode: Encode, options: StorageWriteOptions = {}): Promise<WriteResult> {
    return this.#write('delete', key, encode, options)
  }

  watch({ prefix, from, maxPending = this.#options.maxPending }: StorageWatchOptions): Watcher {
    this.#checkOpen()
    checkPath(prefix, 'any')
    this.#checkWindow(from)
    const missed = this.#medium.events.filter(({ key, revision }) => revision > from && matches(key, prefix))
    const watcher = new LogWatcher(
      { prefix, from, maxPending, missed },
      { newest: () => this.revision, forget: () => this.#watchers.delete(watcher) },
    )
    this.#watchers.add(watcher)
    return watcher
  }

  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (this.#isClosed) return Promise.reject(new StorageError({ code: 'Closed' }))
    if (revision <= this.revision) return Promise.resolve(true)
    if (signal.aborted) return Promise.resolve(false)
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        this.#waiting.delete(check)
        signal.removeEventListener('abort', onAbort)
        settle()
      }
      const check = () => {
        if (revision <= this.revision) finish(() => resolve(true))
        else if (this.#isClosed) finish(() => reject(new StorageError({ code: 'Closed' })))
      }
      const onAbort = () => finish(() => resolve(false))
      this.#waiting.add(check)
      signal.addEventListener('abort', onAbort)
    })
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    if (revision > this.revision) throw this.#future(revision)
    this.#drop(revision)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const watcher of this.#watchers) watcher.end('closed')
    for (const check of this.#waiting) check()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #write(type: 'put' | 'delete', key: string, encode: Encode, { expect, memo }: StorageWriteOptions): WriteResult {
    this.#checkOpen()
    checkPath(key, 'key')
    if (this.#isEncoding) throw new Error('encode must not write to the store')
    const previous = this.#current.get(key)
    const isMissing = type === 'delete' && previous === undefined
    if (isMissing || (expect !== undefined && expect !== (previous?.revision ?? 0)))
      return { outcome: 'conflict', current: previous }
    const revision = this.revision + 1
    const value = this.#encode(encode, revision)
    const entry: Entry = { key, value, revision, created: previous?.created ?? revision, memo }
    this.#publish(
      type === 'put' || previous === undefined
        ? { type: 'put', key, revision, entry, previous }
        : { type, key, revision, entry, previous },
    )
    return { outcome: 'written', entry }
  }

  #encode(encode: Encode, revision: Revision): Uint8Array {
    this.#isEncoding = true
    try {
      return encode(revision)
    } finally {
      this.#isEncoding = false
    }
  }

  #publish(event: StorageEvent): void {
    this.#medium.events.push(event)
    this.#times.push(this.#options.clock.now())
    apply(this.#current, event)
    this.#expire()
    for (const watcher of this.#watchers) watcher.push(event)
    for (const check of this.#waiting) check()
  }

  /** Drops history that is too old, or too large and old enough. */
  #expire(): void {
    const { clock, historyMs, historyBytes, minHistoryMs } = this.#options
    const { events } = this.#medium
    const now = clock.now()
    let bytes = 0
    let oldest = events.length
    while (oldest > 0) {
      bytes += eventBytes + (events[oldest - 1]!.previous?.value.length ?? 0)
      const age = now - this.#times[oldest - 1]!
      if (age >= historyMs || (bytes > historyBytes && age >= minHistoryMs)) break
      oldest--
    }
    if (oldest > 0) this.#drop(events[oldest - 1]!.revision)
  }

  #drop(revision: Revision): void {
    const { events, base } = this.#medium
    while (events[0] !== undefined && events[0].revision <= revision) {
      // The newest event stays, or the store would forget its revision: `compacted` covers it.
      apply(base, events[0])
      this.#medium.compacted = events[0].revision
      events.shift()
      this.#times.shift()
    }
    for (const watcher of this.#watchers) watcher.endIfBehind(this.#medium.compacted)
  }

  #stateAt(revision: Revision): Map<string, Entry> {
    const state = new Map(this.#medium.base)
    for (const event of this.#medium.events) {
      if (event.revision > revision) break
      apply(state, event)
    }
    return state
  }

  #readableAt(revision: Revision): Map<string, Entry> {
    this.#checkWindow(revision)
    if (revision > this.revision) throw this.#future(revision)
    return this.#stateAt(revision)
  }

  #checkWindow(requested: Revision): void {
    const { compacted, revision: current } = this
    if (requested < compacted) throw new StorageError({ code: 'Compacted', requested, compacted, current })
  }

  #future(requested: Revision): StorageError {
    return new StorageError({ code: 'FutureRevision', requested, current: this.revision })
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StorageError({ code: 'Closed' })
  }
}

function apply(state: Map<string, Entry>, { type, key, entry }: StorageEvent): void {
  if (type === 'put') state.set(key, entry)
  else state.delete(key)
}

function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function checkPath(path: string, kind: 'key' | 'prefix' | 'any'): void {
  const isWellFormed = /^\//.test(path) && path.length <= 4096 && !path.includes('\0') && !/\p{Surrogate}/u.test(path)
  if (isWellFormed && (kind === 'any' || path.endsWith('/') === (kind === 'prefix'))) return
  throw new StorageError({ code: 'InvalidKey', key: path, problem: `is no ${kind === 'prefix' ? 'prefix' : 'key'}` })
}
