import type { Entry, Revision } from '../interfaces.ts'
import { StorageError } from '../storage-error.ts'
import { readDamagedKey, readRecord } from './record.ts'
import { type LmdbProgress, type StoreSnapshot, withSnapshot } from './store-reader.ts'

export interface LmdbCheckOptions {
  /** Directory of the store. Another process may serve it. */
  readonly dir: string
  /** Decodes the value of an object. @throws when the value is damaged */
  readonly decode?: (entry: Entry) => void
  readonly onProgress?: (progress: LmdbProgress) => void
}

export interface LmdbProblem {
  /** Absent when the store as a whole is damaged. */
  readonly revision?: Revision
  /** Absent when the key cannot be read. */
  readonly key?: string
  readonly problem: string
}

export interface LmdbCheckResult {
  /** Newest readable revision. */
  readonly revision: Revision
  readonly records: number
  readonly problems: readonly LmdbProblem[]
}

/**
 * Reads every record of a store: its checksum, its place in the history and, with `decode`, its value. The store is not changed.
 * Checksums do not cover the index of LMDB: a damaged index ends the check with one problem, and can end the process.
 *
 * @throws StorageError `Unavailable` with any reason except `corrupt`, which is a result
 * @example
 * import { checkLmdb } from '@krmkit/storage'
 * const decode = ({ value }: { value: Uint8Array }) => void JSON.parse(new TextDecoder().decode(value))
 * const { problems } = await checkLmdb({ dir: '.krmkit/data', decode })
 */
export async function checkLmdb({ dir, decode, onProgress }: LmdbCheckOptions): Promise<LmdbCheckResult> {
  const problems: LmdbProblem[] = []
  const state = { revision: 0, records: 0 }
  try {
    await withSnapshot(dir, async (snapshot) => {
      const checker = new HistoryChecker(snapshot, decode)
      state.revision = snapshot.compacted
      for await (const { revision, bytes } of snapshot.records(onProgress)) {
        state.revision = Math.max(state.revision, revision)
        state.records++
        problems.push(...checker.check(revision, bytes))
      }
    })
  } catch (error) {
    if (!(error instanceof StorageError && error.detail.code === 'Unavailable' && error.detail.reason === 'corrupt')) throw error
    problems.push({ problem: error.detail.problem })
  }
  return { ...state, problems }
}

/** Follows the history like `replay`, but continues after a problem. */
class HistoryChecker {
  readonly #compacted: Revision
  readonly #decode: ((entry: Entry) => void) | undefined
  readonly #present = new Set<string>()
  #expected: Revision

  constructor({ compacted }: StoreSnapshot, decode: ((entry: Entry) => void) | undefined) {
    this.#compacted = compacted
    this.#expected = compacted + 1
    this.#decode = decode
  }

  check(revision: Revision, bytes: Buffer): LmdbProblem[] {
    const problems: LmdbProblem[] = []
    if (revision > this.#compacted) {
      if (revision !== this.#expected) {
        problems.push({ revision: this.#expected, problem: `records are missing before revision ${revision}` })
      }
      this.#expected = revision + 1
    }
    const record = readRecord(bytes, revision)
    if (record === undefined) {
      const key = readDamagedKey(bytes)
      if (key !== undefined) this.#present.add(key)
      return [...problems, { revision, ...(key === undefined ? {} : { key }), problem: 'the record is damaged' }]
    }
    const { type, entry } = record
    const { key } = entry
    if (type === 'delete' && revision > this.#compacted && !this.#present.has(key)) {
      problems.push({ revision, key, problem: 'a key is deleted that does not exist' })
    }
    if (type === 'put') this.#present.add(key)
    else this.#present.delete(key)
    return [...problems, ...this.#checkValue(entry)]
  }

  #checkValue(entry: Entry): LmdbProblem[] {
    try {
      this.#decode?.(entry)
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return [{ revision: entry.revision, key: entry.key, problem: `the value cannot be decoded: ${reason}` }]
    }
  }
}
