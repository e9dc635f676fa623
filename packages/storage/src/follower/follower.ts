/**
 * A store that follows a remote one. Reads are local; writes go to the remote store and resolve when their events have arrived.
 *
 *     opening --loaded--> following --connection lost--> reconnecting --> following
 *                                   --events compacted--> loading again --> following
 */
import { systemClock } from '@krmkit/meta'
import type {
  Encode,
  Entry,
  Revision,
  Storage,
  StorageListOptions,
  StorageListResult,
  StorageWatchOptions,
  StorageWriteOptions,
  Watcher,
  WriteResult,
} from '../interfaces.ts'
import { checkKey } from '../keys.ts'
import { makeEntry, ownBytes } from '../mvcc/entries.ts'
import { MvccState } from '../mvcc/mvcc-state.ts'
import type { ResolvedOptions } from '../options.ts'
import type { StorageStats } from '../stats.ts'
import { StorageError } from '../storage-error.ts'
import { Encoder } from './encoder.ts'
import { EntryDecoder } from './entry-decoder.ts'
import { EventPublisher } from './event-publisher.ts'
import { Freshness } from './freshness.ts'
import { pause } from './pause.ts'
import { type PendingWrite, PendingWrites } from './pending-writes.ts'
import { type RemoteBackend, type RemoteEntry, RemoteWriteError, type RemoteWriteResult } from './remote-backend.ts'
import type { StoredForm } from './stored-form.ts'
import { Subscription } from './subscription.ts'
import { unavailable, unknownOutcome } from './unavailable.ts'

export interface FollowerOptions {
  readonly backend: RemoteBackend
  readonly form: StoredForm
  /** Limits of the local history and of watchers. */
  readonly limits: ResolvedOptions
  /** How long a write or a consistent read waits for the remote store, in milliseconds. */
  readonly timeoutMs: number
  /** Called for lost connections and for values that cannot be decoded, which are skipped. */
  readonly onError: (error: unknown) => void
}

/** Number of past revisions whose events are read when a store is opened, so that these states are readable at once. */
const openingHistory = 10_000
/** Maximum number of attempts of an unconditional write, each from the newest state. */
const unconditionalAttempts = 100
const resolvePauseMs = 250

export class Follower implements Storage {
  readonly #options: FollowerOptions
  readonly #backend: RemoteBackend
  readonly #form: StoredForm
  readonly #decoder: EntryDecoder
  readonly #state: MvccState
  readonly #pending = new PendingWrites()
  readonly #subscription: Subscription
  readonly #freshness: Freshness
  readonly #encoder = new Encoder()
  /** Number of times the state was loaded again because events were compacted. */
  #reloads = 0
  #closing: Promise<void> | undefined
  /** Aborts when the store is closed: outcomes of writes without a response are no longer resolved. */
  readonly #stopping = new AbortController()

  private constructor(options: FollowerOptions, decoder: EntryDecoder, state: MvccState) {
    this.#decoder = decoder
    this.#options = options
    this.#backend = options.backend
    this.#form = options.form
    this.#state = state
    const { form, onError } = options
    const publisher = new EventPublisher({ state, form, decoder, encoder: this.#encoder, pending: this.#pending, onError })
    this.#subscription = new Subscription(options.backend, {
      from: () => state.revision,
      events: (events) => publisher.publish(events),
      progress: (revision) => state.advance(revision),
      reload: () => this.#reload(),
      onError,
    })
    this.#freshness = new Freshness({
      newest: () => options.backend.revision(),
      state,
      requestProgress: () => this.#subscription.requestProgress(),
      onStalled: () => this.#subscription.restart(),
      timeoutMs: options.timeoutMs,
    })
  }

  /** Loads the remote store and its recent history. @throws when it cannot be reached, or holds values that cannot be decrypted */
  static async open(options: FollowerOptions): Promise<Follower> {
    const { backend, form, limits } = options
    const newest = await backend.revision()
    const oldest = Math.max(await backend.oldest(), newest - openingHistory, 1)
    const { revision, entries: pages } = await backend.load(oldest)
    const decoder = new EntryDecoder(form, options.onError)
    const entries: Entry[] = []
    for await (const page of pages) {
      for (const remote of page) {
        const entry = decoder.decode(remote)
        if (entry !== undefined) entries.push(entry)
      }
    }
    const follower = new Follower(options, decoder, MvccState.open(limits, { compacted: revision, entries, events: [] }))
    follower.#subscription.start()
    try {
      await follower.#freshness.reach(newest)
      decoder.check()
      // Drop history with past values whose key was removed after a rotation.
      if (decoder.hasFailed) await follower.#state.compact(follower.revision)
    } catch (error) {
      await follower.close()
      throw error
    }
    return follower
  }

  get revision(): Revision {
    return this.#state.revision
  }

  get compacted(): Revision {
    return this.#state.compacted
  }

  async get(key: string, options?: { readonly at?: Revision }): Promise<Entry | undefined> {
    this.#checkOpen()
    return this.#state.get(key, options?.at)
  }

  peek(key: string): Entry | undefined {
    this.#checkOpen()
    return this.#state.peek(key)
  }

  async list(options: StorageListOptions): Promise<StorageListResult> {
    this.#checkOpen()
    return this.#state.list(options)
  }

  count(prefix: string): number {
    this.#checkOpen()
    return this.#state.count(prefix)
  }

  put(key: string, encode: Encode, options: StorageWriteOptions = {}): Promise<WriteResult> {
    return this.#write('put', key, encode, options)
  }

  delete(key: string, encode: Encode, options: StorageWriteOptions = {}): Promise<WriteResult> {
    return this.#write('delete', key, encode, options)
  }

  watch(options: StorageWatchOptions): Watcher {
    this.#checkOpen()
    return this.#state.watch(options)
  }

  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (this.#closing !== undefined) return Promise.reject(new StorageError({ code: 'Closed' }))
    return this.#freshness.waitFor(revision, signal)
  }

  /** Resolves when reads reflect every write that was acknowledged before the call, by any process. */
  refresh(): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(new StorageError({ code: 'Closed' }))
    return this.#freshness.refresh()
  }

  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean {
    return this.#form.isStale?.(entry) ?? false
  }

  stats(): StorageStats {
    const { revision, compacted, historyBytes } = this.#state
    const history = { revisions: revision - compacted, bytes: historyBytes }
    const remote = this.#backend.stats?.()
    return remote === undefined ? { history } : { history, remote }
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    await this.#state.compact(revision)
    await this.#backend.compact(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #write(type: 'put' | 'delete', key: string, encode: Encode, { expect, memo }: StorageWriteOptions): Promise<WriteResult> {
    this.#checkOpen()
    checkKey(key)
    this.#encoder.requireIdle()
    return this.#pending.inOrder(key, async () => {
      for (let attempt = 1; ; attempt++) {
        const result = await this.#writeOnce({ type, key, encode, expect, memo })
        if (result.outcome === 'written' || expect !== undefined) return result
        if (type === 'delete' && result.current === undefined) return result
        if (attempt === unconditionalAttempts) throw unavailable('other writers were first every time')
      }
    })
  }

  async #writeOnce({
    type,
    key,
    encode,
    expect,
    memo,
  }: {
    type: 'put' | 'delete'
    key: string
    encode: Encode
    expect: Revision | undefined
    memo: unknown
  }): Promise<WriteResult> {
    const isConflict = () => {
      const { revision = 0 } = this.#state.peek(key) ?? {}
      return (type === 'delete' && revision === 0) || (expect !== undefined && expect !== revision)
    }
    // Another process may have changed the key in the meantime.
    if (isConflict()) {
      await this.#freshness.refresh()
      if (isConflict()) return { outcome: 'conflict', current: this.#state.peek(key) }
    }
    const condition = expect ?? this.#state.peek(key)?.revision ?? 0
    const provisional = this.#encoder.encode(encode, 0)
    const value = type === 'put' ? this.#form.encode(key, provisional, memo) : new Uint8Array()
    const write: PendingWrite = { type, expect: condition, stored: value, encode, memo, entry: undefined }
    this.#pending.add(key, write)
    try {
      return await this.#send(key, write)
    } finally {
      this.#pending.remove(key)
    }
  }

  async #send(key: string, write: PendingWrite): Promise<WriteResult> {
    const { type, stored: value, expect } = write
    const reloads = this.#reloads
    let result: RemoteWriteResult
    try {
      result = await this.#backend.write({ type, key, value, expect, ttlSeconds: this.#form.ttlSeconds?.(key) })
    } catch (error) {
      if (!(error instanceof RemoteWriteError)) throw error
      if (error.isRefused) throw unavailable(error.message, error)
      return this.#resolve(key, write, { error, reloads })
    }
    const isConflict = result.outcome === 'conflict'
    await this.#freshness.reach(result.revision).catch((error: unknown) => {
      // The write has happened, but is not visible here.
      throw isConflict ? error : unknownOutcome(error)
    })
    if (isConflict) return { outcome: 'conflict', current: this.#state.peek(key) }
    return { outcome: 'written', entry: write.entry ?? this.#entryOf(key, write, result.revision) }
  }

  /**
   * Determines by reading whether a write without a response has happened. The write is not repeated.
   *
   * @throws StorageError `Unavailable` while the write may still happen: an update as long as the key is unchanged; a creation always,
   * because the key may be deleted again. Also when the key was deleted, by this write or another, and when the events were compacted
   */
  async #resolve(
    key: string,
    write: PendingWrite,
    { error, reloads }: { readonly error: RemoteWriteError; readonly reloads: number },
  ): Promise<WriteResult> {
    const deadline = Date.now() + this.#options.timeoutMs
    for (;;) {
      const failure = await this.#refreshOrFailure()
      if (write.type === 'put' && write.entry !== undefined) return { outcome: 'written', entry: write.entry }
      if (write.entry !== undefined || this.#reloads !== reloads) throw unknownOutcome(error)
      const current = this.#state.peek(key)
      if (write.expect !== 0 && current?.revision !== write.expect) return { outcome: 'conflict', current }
      const isLate = this.#closing !== undefined || Date.now() >= deadline
      if (failure !== undefined && isLate) throw unknownOutcome(failure.reason)
      if (error.isSettled && failure === undefined) throw unavailable(error.message, error)
      if (isLate) throw unknownOutcome(error)
      await pause(resolvePauseMs)
    }
  }

  /** Reads the newest state. @returns the failure; also when the store is closed during the read */
  #refreshOrFailure(): Promise<{ readonly reason: unknown } | undefined> {
    return new Promise((resolve) => {
      const { signal } = this.#stopping
      const onClose = () => resolve({ reason: new StorageError({ code: 'Closed' }) })
      signal.addEventListener('abort', onClose)
      if (signal.aborted) onClose()
      void this.#freshness
        .refresh()
        .then(
          () => resolve(undefined),
          (reason: unknown) => resolve({ reason }),
        )
        .finally(() => signal.removeEventListener('abort', onClose))
    })
  }

  /** The entry of a write whose event never arrived because history was compacted. */
  #entryOf(key: string, { encode, memo }: PendingWrite, revision: Revision): Entry {
    const current = this.#state.peek(key)
    if (current?.revision === revision) return current
    return makeEntry(key, ownBytes(this.#encoder.encode(encode, revision)), { revision, created: revision, memo })
  }

  async #reload(): Promise<void> {
    const { revision, entries: pages } = await this.#backend.load()
    const entries: Entry[] = []
    for await (const page of pages) {
      for (const remote of page) {
        const known = this.#state.peek(remote.key)
        const entry = known?.revision === remote.revision ? known : this.#loaded(remote)
        if (entry !== undefined) entries.push(entry)
      }
    }
    this.#reloads++
    this.#state.replace(entries, revision)
  }

  #loaded(remote: RemoteEntry): Entry | undefined {
    const own = this.#pending.matching(remote, this.#form)
    const entry = this.#decoder.decode(remote)
    if (own !== undefined) own.entry = entry
    return entry
  }

  async #close(): Promise<void> {
    this.#stopping.abort()
    // Closing the backend ends calls of writes to a store that does not respond.
    const cancel = systemClock.setTimeout(() => this.#backend.close(), this.#options.timeoutMs)
    await this.#pending.idle()
    cancel()
    this.#state.stop()
    this.#subscription.close()
    this.#freshness.close()
    this.#state.end()
    this.#backend.close()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StorageError({ code: 'Closed' })
  }
}
