import type { Clock } from '@krmkit/meta'
import type { JournalStats, Storage } from '@krmkit/storage'
import type { Log } from '../log.ts'
import { megabytes } from './megabytes.ts'
import { watchRemoteSpace } from './remote-space-watch.ts'

const intervalMs = 10_000
/** Below this, or below a tenth of the data file, the disk is nearly full. */
const minAvailableBytes = 64 * 1024 * 1024
const fractionOfFile = 0.1
/** The least free space in the data file that is worth a copy; it must also be half of the file. */
const minFreeBytes = 64 * 1024 * 1024
/** Pause after a copy that failed. */
const pauseMs = 10 * 60_000

interface SpaceWatchOptions {
  readonly dir: string
  readonly log: Log
  readonly clock: Clock
}

/**
 * Logs once when the disk of a store, or the quota of etcd, becomes nearly full, and once when it has space again. Gives free space of
 * the data file back to the disk when it is half of the file.
 */
export function watchSpace(storage: Pick<Storage, 'stats' | 'defragment'>, options: SpaceWatchOptions): Disposable {
  if (storage.stats?.().remote !== undefined) return watchRemoteSpace(storage, options)
  const watch = new SpaceWatch(storage, options)
  watch.check()
  return watch
}

class SpaceWatch implements Disposable {
  readonly #storage: Pick<Storage, 'stats' | 'defragment'>
  readonly #options: SpaceWatchOptions
  #isLow = false
  #isCopying = false
  #isDisposed = false
  #pausedUntilMs = 0
  #cancel: () => void = () => undefined

  constructor(storage: Pick<Storage, 'stats' | 'defragment'>, options: SpaceWatchOptions) {
    this.#storage = storage
    this.#options = options
  }

  check(): void {
    const journal = this.#storage.stats?.().journal
    if (journal === undefined) return
    this.#warn(journal)
    if (this.#isDue(journal)) void this.#defragment(journal)
    this.#cancel = this.#options.clock.setTimeout(() => this.check(), intervalMs)
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#cancel()
  }

  #warn({ diskAvailableBytes: available, fileBytes }: JournalStats): void {
    const { dir, log } = this.#options
    const wasLow = this.#isLow
    this.#isLow = available < Math.max(minAvailableBytes, fileBytes * fractionOfFile)
    const left = `${megabytes(available)} left on the disk of ${dir}`
    if (this.#isLow && !wasLow) log.error(`${left}: when it is full, writes are refused until there is space again`)
    if (wasLow && !this.#isLow) log.info(left)
  }

  #isDue({ diskAvailableBytes: available, fileBytes, usedBytes }: JournalStats): boolean {
    if (this.#isCopying || this.#options.clock.now() < this.#pausedUntilMs) return false
    const free = fileBytes - usedBytes
    return free >= minFreeBytes && free >= usedBytes && available > usedBytes + minAvailableBytes
  }

  async #defragment({ fileBytes: before }: JournalStats): Promise<void> {
    const { dir, log, clock } = this.#options
    this.#isCopying = true
    try {
      await this.#storage.defragment?.()
      const after = this.#storage.stats?.().journal?.fileBytes
      if (after !== undefined) log.info(`the data file in ${dir} has ${megabytes(after)}, after ${megabytes(before)}`)
    } catch (error) {
      if (this.#isDisposed) return
      log.error(`the free space of the data file in ${dir} could not be given back`, error)
      this.#pausedUntilMs = clock.now() + pauseMs
    } finally {
      this.#isCopying = false
    }
  }
}
