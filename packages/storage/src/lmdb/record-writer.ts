/** Writes records to a store without records of later revisions. */
import type { Revision } from '../interfaces.ts'
import { unavailable } from './data-dir.ts'
import { allCommitted, type Environment, encodeCompacted } from './environment.ts'

/** Bytes per transaction; each transaction is flushed to disk. */
const batchBytes = 8 * 1024 * 1024

export class RecordWriter {
  readonly #dir: string
  readonly #environment: Environment
  #batch: { readonly revision: Revision; readonly bytes: Uint8Array }[] = []
  #batchBytes = 0

  /** @param dir named in errors @param environment without records */
  constructor(dir: string, environment: Environment) {
    this.#dir = dir
    this.#environment = environment
  }

  /** Adds a record; revisions must ascend. `bytes` must not change until the store is complete. */
  async add(revision: Revision, bytes: Uint8Array): Promise<void> {
    this.#batch.push({ revision, bytes })
    this.#batchBytes += bytes.length
    if (this.#batchBytes >= batchBytes) await this.flush()
  }

  /** Resolves when all added records are on disk. */
  async flush(): Promise<void> {
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

  /** Completes the store, and sets its oldest readable revision to `compacted`. */
  async complete(compacted: Revision): Promise<void> {
    await this.flush()
    await this.#environment.metadata.put('compacted', encodeCompacted(compacted))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
