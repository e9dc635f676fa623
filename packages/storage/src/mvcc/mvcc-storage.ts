/**
 * The engine of all in-process backends: it holds the state in memory and orders writes. An optional journal makes writes durable; without
 * a journal, a write is complete when it is ordered.
 */
import type { Clock } from '@krmkit/meta'
import type {
  Encode,
  Entry,
  Revision,
  Storage,
  StorageEvent,
  StorageListOptions,
  StorageListResult,
  StorageWatchOptions,
  StorageWriteOptions,
  Watcher,
  WriteResult,
} from '../interfaces.ts'
import { checkKey } from '../keys.ts'
import type { ResolvedOptions, StorageOptions } from '../options.ts'
import type { StorageStats } from '../stats.ts'
import { invalidArgument, StorageError } from '../storage-error.ts'
import { deleteEvent, makeEntry, ownBytes, putEvent } from './entries.ts'
import type { Journal } from './journal.ts'
import { type InitialState, MvccState } from './mvcc-state.ts'
import { WriteQueue } from './write-queue.ts'

export const firstRevision: Revision = 1

export class MvccStorage implements Storage {
  readonly #state: MvccState
  readonly #journal: Journal | undefined
  readonly #writes: WriteQueue | undefined
  /** Revision of the last ordered write, visible or not. */
  #ordered: Revision
  #isEncoding = false
  #closing: Promise<void> | undefined

  private constructor(state: MvccState, journalled?: { readonly journal: Journal; readonly clock: Pick<Clock, 'now'> }) {
    this.#state = state
    this.#journal = journalled?.journal
    this.#ordered = state.revision
    if (journalled === undefined) return
    this.#writes = new WriteQueue(journalled.journal, {
      publish: (event) => state.publish(event),
      restart: (revision) => {
        this.#ordered = revision
      },
      now: () => journalled.clock.now(),
    })
  }

  static empty(options: ResolvedOptions): MvccStorage {
    return MvccStorage.open(options, { compacted: firstRevision, entries: [], events: [] })
  }

  static open(options: ResolvedOptions, initial: InitialState, journal?: Journal): MvccStorage {
    const state = MvccState.open(options, initial, journal)
    return new MvccStorage(state, journal === undefined ? undefined : { journal, clock: options.clock })
  }

  /** Whether the store has no journal, so that it can be forked. */
  get isVolatile(): boolean {
    return this.#journal === undefined
  }

  /** An independent store with the same state and history. Copies pointers, not data. */
  fork(overrides: StorageOptions): MvccStorage {
    this.#checkOpen()
    return new MvccStorage(this.#state.fork(overrides))
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
    if (typeof options?.prefix !== 'string') throw invalidArgument('list needs a prefix, such as "/"')
    if (Number(options.limit ?? 0) < 0) throw invalidArgument('list: limit is a number from 0, which is all')
    return this.#state.list(options)
  }

  count(prefix: string): number {
    this.#checkOpen()
    return this.#state.count(prefix)
  }

  put(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult> {
    if (typeof encode !== 'function') return Promise.reject(withoutEncode('put'))
    return this.#write('put', key, { encode, options })
  }

  delete(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult> {
    if (typeof encode !== 'function') return Promise.reject(withoutEncode('delete'))
    return this.#write('delete', key, { encode, options })
  }

  watch(options: StorageWatchOptions): Watcher {
    this.#checkOpen()
    if (typeof options?.from !== 'number') throw invalidArgument('watch needs `from`, the revision after which events begin')
    return this.#state.watch(options)
  }

  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (this.#closing !== undefined) return Promise.reject(new StorageError({ code: 'Closed' }))
    if (typeof signal?.aborted !== 'boolean') return Promise.reject(invalidArgument('waitFor needs a revision and a signal'))
    return this.#state.waitFor(revision, signal)
  }

  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean {
    return this.#journal?.isStale?.(entry) ?? false
  }

  stats(): StorageStats {
    const { revision, compacted, historyBytes } = this.#state
    const journal = this.#closing === undefined ? this.#journal?.stats?.() : undefined
    const history = { revisions: revision - compacted, bytes: historyBytes }
    return journal === undefined ? { history } : { history, journal }
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    await this.#state.compact(revision)
  }

  async defragment(): Promise<void> {
    this.#checkOpen()
    await this.#journal?.defragment?.()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #write(
    type: 'put' | 'delete',
    key: string,
    how: { encode: Encode; options: StorageWriteOptions | undefined },
  ): Promise<WriteResult> {
    try {
      this.#checkWritable()
      checkKey(key)
      const pending = this.#writes?.newest(key)
      const current = pending === undefined ? this.#state.peek(key) : stateAfter(pending.event)
      const expect = how.options?.expect
      if ((type === 'delete' && current === undefined) || (expect !== undefined && expect !== (current?.revision ?? 0))) {
        if (pending === undefined) return Promise.resolve({ outcome: 'conflict', current })
        return pending.written.then(() => ({ outcome: 'conflict', current: this.#state.peek(key) }))
      }
      this.#journal?.checkWrite?.(key)
      // An update reuses the existing key string instead of keeping one copy per revision.
      const entry = this.#encode(current?.key ?? key, how.encode, {
        created: type === 'put' ? current?.created : current!.created,
        memo: how.options?.memo,
      })
      const event = type === 'put' ? putEvent(entry, current) : deleteEvent(entry, current!)
      if (this.#writes !== undefined) return this.#writes.add(event).then(written)
      this.#state.publish(event)
      return Promise.resolve(written(entry))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Assigns the revision and encodes the bytes. When `encode` throws, the write has no effect. */
  #encode(key: string, encode: Encode, times: { created: Revision | undefined; memo: unknown }): Entry {
    if (this.#isEncoding) throw new Error('encode must not write to the store it encodes for')
    const revision = this.#ordered + 1
    this.#isEncoding = true
    try {
      const value = encode(revision)
      if (!(value instanceof Uint8Array)) throw new TypeError('encode must return a Uint8Array')
      this.#ordered = revision
      return makeEntry(key, ownBytes(value), { revision, created: times.created ?? revision, memo: times.memo })
    } finally {
      this.#isEncoding = false
    }
  }

  async #close(): Promise<void> {
    this.#state.stop()
    await this.#writes?.idle()
    this.#state.end()
    await this.#journal?.close()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StorageError({ code: 'Closed' })
  }

  #checkWritable(): void {
    this.#checkOpen()
    const refusal = this.#writes?.refusal()
    if (refusal !== undefined) throw refusal
  }
}

function written(entry: Entry): WriteResult {
  return { outcome: 'written', entry }
}

function stateAfter(event: StorageEvent): Entry | undefined {
  return event.type === 'put' ? event.entry : undefined
}

function withoutEncode(call: string): StorageError {
  return invalidArgument(`${call} needs a key and a function that encodes the value from its revision`)
}
