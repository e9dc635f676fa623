/** Copies the records of a store that is in use to a new one without free space, which can take its place. */
import { rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Revision } from '../interfaces.ts'
import { firstRevision } from '../mvcc/mvcc-storage.ts'
import { prepareDataDir } from './data-dir.ts'
import { compactedOf, type Environment, openEnvironment } from './environment.ts'
import { RecordWriter } from './record-writer.ts'
import { copyDirOf, replaceDir } from './replace-dir.ts'

/** Number of records copied per turn of the event loop. */
const recordsPerTurn = 256

export class StoreCopy {
  readonly environment: Environment
  readonly #dir: string
  readonly #writer: RecordWriter
  #last: Revision = 0

  private constructor(dir: string, environment: Environment) {
    this.#dir = dir
    this.environment = environment
    this.#writer = new RecordWriter(copyDirOf(dir), environment)
  }

  /** An empty copy. @throws StorageError `Unavailable` */
  static async create(dir: string): Promise<StoreCopy> {
    const copyDir = copyDirOf(dir)
    prepareDataDir(copyDir)
    return new StoreCopy(dir, await openEnvironment(copyDir, { readOnly: false }))
  }

  /** Copies the records that were added since the last round. @returns the number of records @throws the reason of the signal */
  async round({ root, records }: Environment, signal: AbortSignal): Promise<number> {
    const transaction = root.useReadTransaction()
    let count = 0
    try {
      for (const { key: revision, value } of records.getRange({ transaction, start: this.#last + 1 })) {
        await this.#writer.add(revision, value)
        this.#last = revision
        if (++count % recordsPerTurn === 0) await setImmediate()
        signal.throwIfAborted()
      }
    } finally {
      transaction.done()
    }
    await this.#writer.flush()
    return count
  }

  /**
   * Completes the copy and renames it to the name of the store, which must not be written during the call. @returns the directory of the
   * former store
   */
  async takePlace({ metadata }: Environment): Promise<string> {
    await this.#writer.complete(compactedOf(metadata.get('compacted'), firstRevision))
    return replaceDir(this.#dir)
  }

  async discard(): Promise<void> {
    await this.environment.root.close()
    rmSync(copyDirOf(this.#dir), { recursive: true, force: true })
  }
}
