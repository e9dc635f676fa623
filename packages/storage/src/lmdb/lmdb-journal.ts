/**
 * The journal in LMDB: a table from revisions to records, and a table of metadata.
 *
 * Records are keyed by revision, so every write is an append (which fills pages and touches few of them), object keys may have
 * any length, and no index needs maintenance: reading all records in order restores the state.
 */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import type { Journal } from '../mvcc/journal.ts'
import { firstRevision } from '../mvcc/mvcc-storage.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { prepareDataDir, unavailable } from './data-dir.ts'
import { allCommitted, asUnavailable, compactedOf, type Environment, encodeCompacted, openEnvironment } from './environment.ts'
import { maxRecordBytes, transformEvents, writeRecord } from './record.ts'
import { type Replayed, replay } from './replay.ts'

const minArenaBytes = 256 * 1024
const maxIdleArenaBytes = 4 * 1024 * 1024
/** Records removed per transaction, so that compaction does not delay writes for long. */
const removalBatchSize = 1024
const asAppend = { append: true } as const

export class LmdbJournal implements Journal {
  readonly #root: Environment['root']
  readonly #metadata: Environment['metadata']
  readonly #records: Environment['records']
  readonly #transformer: ValueTransformer
  /** Holds the records of the current commit, which LMDB reads from another thread. */
  #arena = Buffer.alloc(0)
  /** Records to remove, in order: a record must not be removed after its successor, or a restart would restore it. */
  #superseded: Revision[] = []
  #compacted: Revision
  #removing: Promise<void> | undefined
  #isClosing = false

  private constructor({ root, metadata, records }: Environment, transformer: ValueTransformer) {
    this.#transformer = transformer
    this.#root = root
    this.#metadata = metadata
    this.#records = records
    this.#compacted = compactedOf(metadata.get('compacted'), firstRevision)
  }

  /**
   * Opens the directory exclusively.
   *
   * @throws StorageError `Unavailable` when the directory is in use, foreign or inaccessible
   */
  static async open(dir: string, transformer: ValueTransformer = identityTransformer): Promise<LmdbJournal> {
    prepareDataDir(dir)
    const check = (opened: Environment) => rejectSecondOpening(dir, opened)
    return new LmdbJournal(await openEnvironment(dir, { readOnly: false, check }), transformer)
  }

  /** Reads all records; called once, before anything else. @throws StorageError `Unavailable` with reason `corrupt` */
  load(): Replayed['initial'] {
    try {
      const { initial, superseded } = replay(() => this.#records.getRange(), this.#compacted, this.#transformer)
      this.#compacted = initial.compacted
      this.#superseded.push(...superseded)
      return initial
    } catch (cause) {
      throw asUnavailable('the journal', cause)
    }
  }

  async commit(events: readonly StorageEvent[]): Promise<void> {
    const kept = transformEvents(events, this.#transformer)
    const views = this.#encode(kept)
    const outcomes: Promise<boolean>[] = []
    const batch = this.#records.batch(() => {
      for (let at = 0; at < events.length; at++) outcomes.push(this.#records.put(events[at]!.revision, views[at]!, asAppend))
    })
    const written = await allCommitted([batch, ...outcomes])
    if (written.includes(false)) throw new Error('the journal already holds a later revision')
    if (kept !== events) for (const { entry } of kept) this.#transformer.stored(entry, entry.value)
    if (this.#arena.length > maxIdleArenaBytes) this.#arena = Buffer.alloc(0)
  }

  async compact(revision: Revision, superseded: readonly Revision[]): Promise<void> {
    this.#compacted = Math.max(this.#compacted, revision)
    for (const at of superseded) this.#superseded.push(at)
    // A running removal continues with the added revisions, but may have passed its last check already.
    await this.#removing?.catch(() => undefined)
    this.#removing ??= this.#remove().finally(() => {
      this.#removing = undefined
    })
    await this.#removing
  }

  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean {
    return this.#transformer.isStale(entry)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#removing?.catch(() => undefined)
    await this.#root.close()
  }

  #encode(events: readonly StorageEvent[]): Buffer[] {
    const bytes = events.reduce((sum, event) => sum + maxRecordBytes(event), 0)
    if (this.#arena.length < bytes)
      this.#arena = Buffer.allocUnsafeSlow(Math.max(minArenaBytes, 2 ** Math.ceil(Math.log2(bytes))))
    let start = 0
    return events.map((event) => {
      const end = writeRecord(this.#arena, start, event)
      const view = this.#arena.subarray(start, end)
      start = end
      return view
    })
  }

  async #remove(): Promise<void> {
    do {
      const some = this.#superseded.slice(0, removalBatchSize)
      const compacted = encodeCompacted(this.#compacted)
      const outcomes: Promise<boolean>[] = []
      const batch = this.#records.batch(() => {
        outcomes.push(this.#metadata.put('compacted', compacted))
        for (const revision of some) outcomes.push(this.#records.remove(revision))
      })
      await allCommitted([batch, ...outcomes])
      this.#superseded.splice(0, some.length)
    } while (this.#superseded.length > 0 && !this.#isClosing)
  }
}

/**
 * Rejects a second opening: each environment that has read occupies a slot in LMDB's reader table until it closes or dies, and
 * the operating system knows which processes are alive. One slot is this store's.
 */
function rejectSecondOpening(dir: string, { root, metadata }: Environment): void {
  metadata.get('format')
  root.readerCheck()
  const readers = root
    .readerList()
    .split('\n')
    .map((line) => /^\s*(\d+)\s/.exec(line)?.[1])
    .filter((pid) => pid !== undefined)
  if (readers.length < 2) return
  const other = readers.find((pid) => pid !== String(process.pid))
  throw unavailable('locked', `${dir} is in use by ${other === undefined ? 'this process' : `process ${other}`}`)
}
