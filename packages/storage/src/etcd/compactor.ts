import { systemClock } from '@krmkit/meta'
import type { EtcdClient } from './etcd-client.ts'
import { isCompacted } from './etcd-error.ts'
import { compareEqual, compareVersion } from './messages.ts'

/** The key by which servers, including kube-apiserver, agree on which of them compacts. The version of the key counts compactions. */
export const compactionKey = 'compact_rev_key'

export interface CompactorOptions {
  readonly client: Pick<EtcdClient, 'txn' | 'compact'>
  readonly intervalMs: number
  readonly onError: (error: unknown) => void
}

/**
 * Drops the history of etcd that is older than an interval. One server compacts in each interval, to the revision that it saw one interval
 * before.
 *
 *     tick: version of the key as known --yes--> write the revision to compact to; compact
 *                                       --no---> another server has compacted: take over its count
 */
export class Compactor {
  readonly #options: CompactorOptions
  /** Known version of the key, and the revision at the last tick. */
  #count = 0
  #revision = 0
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: CompactorOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#isClosed) return
    this.#cancel = systemClock.setTimeout(() => {
      void this.tick()
        .catch(this.#options.onError)
        .finally(() => this.start())
    }, this.#options.intervalMs)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  /** Runs one tick. @returns the revision that this server has compacted to; undefined when it has not compacted */
  async tick(): Promise<number | undefined> {
    const { client } = this.#options
    const key = new TextEncoder().encode(compactionKey)
    const value = new TextEncoder().encode(String(this.#revision))
    const { header, succeeded, responses } = await client.txn({
      compare: [{ result: compareEqual, target: compareVersion, key, version: this.#count }],
      success: [{ request_put: { key, value } }],
      failure: [{ request_range: { key } }],
    })
    const before = this.#revision
    this.#revision = header.revision
    if (!succeeded) {
      this.#count = responses[0]?.response_range?.kvs[0]?.version ?? 0
      return undefined
    }
    this.#count++
    if (before === 0) return undefined
    try {
      await client.compact(before)
    } catch (error) {
      if (!isCompacted(error)) throw error
    }
    return before
  }
}
