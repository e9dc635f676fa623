/** The remote backend of a follower that mirrors etcd. */

import {
  type RemoteBackend,
  type RemoteEntry,
  type RemoteEvent,
  type RemoteSink,
  type RemoteSubscription,
  type RemoteWrite,
  RemoteWriteError,
  type RemoteWriteResult,
} from '../follower/remote-backend.ts'
import type { Revision } from '../interfaces.ts'
import { CommitDurations, type RemoteStats } from '../stats.ts'
import { type EtcdClient, endOfKeyPrefix } from './etcd-client.ts'
import { isCompacted, isOutOfSpace, isRefusal } from './etcd-error.ts'
import type { Layout } from './layout.ts'
import { Leases } from './leases.ts'
import {
  compareEqual,
  compareModRevision,
  deleteEventType,
  filterDeletes,
  filterPuts,
  type KeyValue,
  type RangeResponse,
  type WatchEvent,
} from './messages.ts'
import type { SpaceReports } from './space-reports.ts'

/** Number of keys read at a time. */
const pageSize = 500
const progressEveryMs = 50

export interface EtcdBackendOptions {
  readonly client: EtcdClient
  readonly layout: Layout
  /** Timeout of a write, in milliseconds. */
  readonly writeTimeoutMs: number
  /** Absent: the space of etcd is not reported. */
  readonly space?: SpaceReports
}

export class EtcdBackend implements RemoteBackend {
  readonly #client: EtcdClient
  readonly #layout: Layout
  readonly #leases: Leases
  readonly #writeTimeoutMs: number
  readonly #space: SpaceReports | undefined
  readonly #commits = new CommitDurations()
  #failedCommits = 0
  readonly #root: Uint8Array
  readonly #end: Uint8Array

  constructor({ client, layout, writeTimeoutMs, space }: EtcdBackendOptions) {
    this.#client = client
    this.#layout = layout
    this.#leases = new Leases(client)
    this.#writeTimeoutMs = writeTimeoutMs
    this.#space = space
    this.#root = layout.root
    this.#end = endOfKeyPrefix(layout.root)
  }

  async revision(): Promise<Revision> {
    const { header } = await this.#client.range({ key: this.#root, limit: 1, keys_only: true })
    return header.revision
  }

  /** etcd reveals the oldest revision only when it refuses a watch that starts before it. */
  async oldest(): Promise<Revision> {
    const stream = await this.#client.watchStream()
    let cancelTimer: ReturnType<typeof setInterval> | undefined
    try {
      return await new Promise<Revision>((resolve, reject) => {
        stream.create(
          { key: this.#root, start_revision: 1, filters: [filterPuts, filterDeletes] },
          { events: () => undefined, progress: () => resolve(1), compacted: resolve, ended: reject },
        )
        cancelTimer = setInterval(() => stream.requestProgress(), progressEveryMs)
      })
    } finally {
      clearInterval(cancelTimer)
      stream.close()
    }
  }

  async load(at?: Revision): Promise<{ revision: Revision; entries: AsyncIterable<readonly RemoteEntry[]> }> {
    const first = await this.#page(this.#root, at)
    const revision = at ?? first.header.revision
    return { revision, entries: this.#pages(first, revision) }
  }

  async subscribe(from: Revision, sink: RemoteSink): Promise<RemoteSubscription> {
    const stream = await this.#client.watchStream()
    stream.create(
      { key: this.#root, range_end: this.#end, start_revision: from + 1, progress_notify: true, fragment: true },
      {
        events: (events) => sink.events(this.#eventsOf(events)),
        progress: (revision) => sink.progress(revision),
        compacted: () => sink.ended('compacted'),
        ended: (error) => sink.ended('lost', error),
      },
    )
    return { requestProgress: () => stream.requestProgress(), close: () => stream.close() }
  }

  async write({ type, key: ownKey, value, expect, ttlSeconds }: RemoteWrite): Promise<RemoteWriteResult> {
    const key = this.#layout.toEtcd(ownKey)
    try {
      // A deletion must not create a lease, which needs space: deletions make room when the quota is exhausted.
      const lease = type === 'delete' || ttlSeconds === undefined ? undefined : await this.#lease(ttlSeconds)
      const sentMs = performance.now()
      const { header, succeeded } = await this.#client.txn(
        {
          compare: [{ result: compareEqual, target: compareModRevision, key, mod_revision: expect }],
          success: [type === 'put' ? { request_put: { key, value, lease } } : { request_delete_range: { key } }],
          failure: [],
        },
        { timeoutMs: this.#writeTimeoutMs },
      )
      this.#commits.observe((performance.now() - sentMs) / 1000)
      return { outcome: succeeded ? 'written' : 'conflict', revision: header.revision }
    } catch (cause) {
      this.#failedCommits++
      if (cause instanceof RemoteWriteError) throw cause
      const isRefused = isRefusal(cause)
      const isSettled = isRefused || isOutOfSpace(cause)
      throw new RemoteWriteError(cause instanceof Error ? cause.message : String(cause), { isRefused, isSettled, cause })
    }
  }

  async compact(revision: Revision): Promise<void> {
    try {
      await this.#client.compact(revision)
    } catch (error) {
      // Another server has compacted to this or a later revision.
      if (!isCompacted(error)) throw error
    }
  }

  stats(): RemoteStats {
    const space = this.#space?.last
    const figures = { commits: this.#commits, failedCommits: this.#failedCommits }
    return space === undefined ? figures : { ...figures, space }
  }

  close(): void {
    this.#client.close()
  }

  async #lease(ttlSeconds: number): Promise<number> {
    try {
      return await this.#leases.leaseFor(ttlSeconds)
    } catch (cause) {
      // The lease could not be created, so the write has not been sent.
      throw new RemoteWriteError(cause instanceof Error ? cause.message : String(cause), { isRefused: true, cause })
    }
  }

  #page(from: Uint8Array, at: Revision | undefined): Promise<RangeResponse> {
    return this.#client.range({ key: from, range_end: this.#end, limit: pageSize, revision: at })
  }

  async *#pages(first: RangeResponse, at: Revision): AsyncGenerator<readonly RemoteEntry[]> {
    for (let page = first; ; ) {
      yield page.kvs.map((kv) => this.#entryOf(kv)).filter((entry) => entry !== undefined)
      const last = page.kvs.at(-1)
      if (!page.more || last === undefined) return
      page = await this.#page(Buffer.concat([last.key, Uint8Array.of(0)]), at)
    }
  }

  #entryOf({ key: bytes, value, mod_revision: revision, create_revision: created }: KeyValue): RemoteEntry | undefined {
    const key = this.#layout.fromEtcd(bytes)
    return key === undefined ? undefined : { key, value, revision, created }
  }

  #eventsOf(events: readonly WatchEvent[]): RemoteEvent[] {
    const found: RemoteEvent[] = []
    for (const { type, kv } of events) {
      const entry = this.#entryOf(kv)
      if (entry === undefined) continue
      if (type === deleteEventType) found.push({ type: 'delete', key: entry.key, revision: entry.revision })
      else found.push({ type: 'put', entry })
    }
    return found
  }
}
