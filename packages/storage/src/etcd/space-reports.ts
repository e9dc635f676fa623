import { systemClock } from '@krmkit/meta'
import type { RemoteSpace } from '../stats.ts'
import type { EtcdClient } from './etcd-client.ts'

export interface SpaceReportsOptions {
  readonly client: Pick<EtcdClient, 'status'>
  readonly intervalMs: number
}

/** Polls a member for its sizes and alarms. A failed poll is repeated at the next interval. */
export class SpaceReports {
  readonly #options: SpaceReportsOptions
  #last: RemoteSpace | undefined
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(options: SpaceReportsOptions) {
    this.#options = options
  }

  /** The newest report; undefined before the first. */
  get last(): RemoteSpace | undefined {
    return this.#last
  }

  start(): void {
    void this.#ask().finally(() => {
      if (!this.#isClosed) this.#cancel = systemClock.setTimeout(() => this.start(), this.#options.intervalMs)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  async #ask(): Promise<void> {
    // Errors are ignored here, because requests and the watch report an unreachable member.
    const status = await this.#options.client.status().catch(() => undefined)
    if (status === undefined) return
    const { dbSize: fileBytes, dbSizeInUse: usedBytes, dbSizeQuota, errors: problems } = status
    this.#last = { fileBytes, usedBytes, problems, ...(dbSizeQuota === 0 ? {} : { quotaBytes: dbSizeQuota }) }
  }
}
