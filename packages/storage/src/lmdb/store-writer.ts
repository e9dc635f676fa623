/** Creates a store from records: in a directory beside the wanted one, which is renamed when everything is on disk. */
import { existsSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import type { Revision } from '../interfaces.ts'
import { keptTransformer } from '../value-transformer.ts'
import { prepareDataDir, rejectNonEmptyDir, unavailable } from './data-dir.ts'
import { allCommitted, type Environment, encodeCompacted, openEnvironment } from './environment.ts'
import { LmdbJournal } from './lmdb-journal.ts'

/** Bytes per transaction, each of which is flushed to disk. */
const batchBytes = 8 * 1024 * 1024

export class StoreWriter {
  readonly #dir: string
  readonly #partial: string
  readonly #environment: Environment
  #batch: { readonly revision: Revision; readonly bytes: Uint8Array }[] = []
  #batchBytes = 0

  private constructor(dirs: { readonly dir: string; readonly partial: string }, environment: Environment) {
    this.#dir = dirs.dir
    this.#partial = dirs.partial
    this.#environment = environment
  }

  /**
   * Fills a new store by `fill`, which returns its oldest readable revision. When anything fails, nothing is left.
   *
   * @throws StorageError `Unavailable`: `foreign` when `dir` is not empty, `access`, or `corrupt` when the records make no store
   */
  static async create(dir: string, fill: (writer: StoreWriter) => Promise<Revision>): Promise<void> {
    rejectNonEmptyDir(dir)
    const partial = `${dir}.partial-${process.pid}`
    prepareDataDir(partial)
    try {
      const environment = await openEnvironment(partial, { readOnly: false })
      const writer = new StoreWriter({ dir, partial }, environment)
      try {
        const compacted = await fill(writer)
        await writer.#flush()
        await environment.metadata.put('compacted', encodeCompacted(compacted))
      } finally {
        await environment.root.close()
      }
      await writer.#publish()
    } catch (error) {
      rmSync(partial, { recursive: true, force: true })
      throw error
    }
  }

  /** Adds a record; revisions must ascend. `bytes` must not change until the store is complete. */
  async add(revision: Revision, bytes: Uint8Array): Promise<void> {
    this.#batch.push({ revision, bytes })
    this.#batchBytes += bytes.length
    if (this.#batchBytes >= batchBytes) await this.#flush()
  }

  async #flush(): Promise<void> {
    const { records } = this.#environment
    const outcomes: Promise<boolean>[] = []
    const batch = records.batch(() => {
      for (const { revision, bytes } of this.#batch) outcomes.push(records.put(revision, bytes, { append: true }))
    })
    const kept = await allCommitted([batch, ...outcomes]).catch((cause: unknown) => {
      throw unavailable('access', `${this.#dir} cannot be written: ${messageOf(cause)}`, cause)
    })
    if (kept.includes(false)) throw unavailable('corrupt', 'the revisions of the records do not ascend')
    this.#batch = []
    this.#batchBytes = 0
  }

  /** Reads the new store as a server does, then gives it its name. */
  async #publish(): Promise<void> {
    const journal = await LmdbJournal.open(this.#partial, keptTransformer)
    try {
      journal.load()
    } finally {
      await journal.close()
    }
    rejectNonEmptyDir(this.#dir)
    if (existsSync(this.#dir)) rmdirSync(this.#dir)
    renameSync(this.#partial, this.#dir)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
