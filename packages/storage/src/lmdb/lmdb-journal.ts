/**
 * The journal in LMDB: a table from revisions to records, and a table of metadata.
 *
 * Records are keyed by revision, so every write is an append (which fills pages and touches few of them), object keys may have
 * any length, and no index needs maintenance: reading all records in order restores the state.
 */
import { rmSync } from 'node:fs'
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { holdValue, type ValueSource } from '../mvcc/entries.ts'
import type { Journal } from '../mvcc/journal.ts'
import { firstRevision } from '../mvcc/mvcc-storage.ts'
import { CommitDurations, type JournalStats } from '../stats.ts'
import { StorageError } from '../storage-error.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { prepareDataDir, sizesOf, unavailable } from './data-dir.ts'
import {
  allCommitted,
  asUnavailable,
  compactedOf,
  type Environment,
  encodeCompacted,
  openEnvironment,
  usedBytesOf,
} from './environment.ts'
import { maxRecordBytes, readRecord, transformEvents, writeRecord } from './record.ts'
import { removeLeftovers } from './replace-dir.ts'
import { type Replayed, replay } from './replay.ts'
import { StoreCopy } from './store-copy.ts'
import { Turns } from './turns.ts'

const minArenaBytes = 256 * 1024
const maxIdleArenaBytes = 4 * 1024 * 1024
/** Number of records removed per transaction, so that compaction does not delay writes for long. */
const removalBatchSize = 1024
/** The file is replaced after a round of at most this many records, because commits wait during the last round. */
const recordsOfLastRound = 256
/** Maximum number of rounds before the last one, for when writes are faster than the copy. */
const maxRounds = 20
const asAppend = { append: true } as const

export class LmdbJournal implements Journal, ValueSource {
  #environment: Environment
  readonly #transformer: ValueTransformer
  /** Holds the records of the current commit, which LMDB reads from another thread. */
  #arena = Buffer.alloc(0)
  /** Records to remove, in order. A record must not be removed after its successor; otherwise a restart in between would restore it. */
  #superseded: Pick<Entry, 'revision'>[] = []
  #compacted: Revision
  #removing: Promise<void> | undefined
  #isClosing = false
  readonly #dir: string
  /** Serializes commits and the replacement of the file. */
  readonly #commitTurns = new Turns()
  /** Serializes removals and copies: records removed during a copy would reappear without their successors. */
  readonly #maintenanceTurns = new Turns()
  #defragmenting: Promise<void> | undefined
  readonly #closing = new AbortController()
  readonly #commits = new CommitDurations()
  #failedCommits = 0

  private constructor(dir: string, environment: Environment, transformer: ValueTransformer) {
    this.#dir = dir
    this.#environment = environment
    this.#transformer = transformer
    this.#compacted = compactedOf(environment.metadata.get('compacted'), firstRevision)
  }

  /**
   * Opens the directory exclusively.
   *
   * @throws StorageError `Unavailable` when the directory is in use, foreign or inaccessible
   */
  static async open(dir: string, transformer: ValueTransformer = identityTransformer): Promise<LmdbJournal> {
    prepareDataDir(dir)
    const check = (opened: Environment) => rejectSecondOpening(dir, opened)
    const opened = await openEnvironment(dir, { readOnly: false, check })
    try {
      return new LmdbJournal(dir, opened, transformer)
    } catch (error) {
      await opened.root.close()
      throw error
    }
  }

  /** Prepares the transformer to read the records; called before `load`. @throws StorageError `Unavailable` */
  async prepare(): Promise<void> {
    const transformer = this.#transformer
    if (transformer.prepare === undefined) return
    const waiting: Promise<void>[] = []
    for (const { key: revision, value } of this.#environment.recordsInPlace.getRange()) {
      const record = readRecord(value, revision)
      if (record === undefined) continue
      const preparing = transformer.prepare([{ key: record.entry.key, stored: record.entry.value }])
      if (preparing !== undefined) waiting.push(preparing)
    }
    await Promise.all(waiting)
  }

  /** Reads all records, but keeps no values; called once, before anything else. @throws StorageError `Unavailable` with reason `corrupt` */
  load(): Replayed['initial'] {
    try {
      const records = () => this.#environment.recordsInPlace.getRange()
      const { initial, superseded } = replay(records, this.#compacted, { transformer: this.#transformer, values: this })
      this.#compacted = initial.compacted
      for (const revision of superseded) this.#superseded.push({ revision })
      removeLeftovers(this.#dir)
      return initial
    } catch (cause) {
      throw asUnavailable('the journal', cause)
    }
  }

  async commit(events: readonly StorageEvent[]): Promise<void> {
    const startMs = performance.now()
    try {
      await this.#commitTurns.run(() => this.#commit(events))
    } catch (error) {
      this.#failedCommits++
      throw error
    }
    this.#commits.observe((performance.now() - startMs) / 1000)
  }

  stats(): JournalStats {
    const usedBytes = usedBytesOf(this.#environment)
    return { ...sizesOf(this.#dir), usedBytes, commits: this.#commits, failedCommits: this.#failedCommits }
  }

  async #commit(events: readonly StorageEvent[]): Promise<void> {
    const kept = transformEvents(events, this.#transformer)
    const views = this.#encode(kept)
    const outcomes: Promise<boolean>[] = []
    const batch = this.#environment.records.batch(() => {
      for (let at = 0; at < events.length; at++)
        outcomes.push(this.#environment.records.put(events[at]!.revision, views[at]!, asAppend))
    })
    const written = await allCommitted([batch, ...outcomes])
    if (written.includes(false)) throw new Error('the journal already holds a later revision')
    if (kept !== events) for (const { entry } of kept) this.#transformer.stored(entry, entry.value)
    if (this.#arena.length > maxIdleArenaBytes) this.#arena = Buffer.alloc(0)
  }

  async recover(): Promise<Revision> {
    this.#environment.root.resetReadTxn()
    for (const revision of this.#environment.records.getKeys({ reverse: true, limit: 1 }))
      return Math.max(revision, this.#compacted)
    return this.#compacted
  }

  /**
   * Copies the records to a file without free space, and continues with this file. Commits continue during the copy, and wait only while
   * the last records are copied; removals wait for the whole copy.
   */
  defragment(): Promise<void> {
    this.#defragmenting ??= this.#maintenanceTurns
      .run(() => this.#defragment())
      .finally(() => {
        this.#defragmenting = undefined
      })
    return this.#defragmenting
  }

  async compact(revision: Revision, superseded: readonly Entry[]): Promise<void> {
    this.#compacted = Math.max(this.#compacted, revision)
    for (const entry of superseded) this.#superseded.push(entry)
    // A running removal continues with the added revisions, but may already have made its last check.
    await this.#removing?.catch(() => undefined)
    this.#removing ??= this.#maintenanceTurns
      .run(() => this.#remove())
      .finally(() => {
        this.#removing = undefined
      })
    await this.#removing
  }

  /** The source of superseded values. Undefined with encryption, because a key may be removed before the values. */
  get values(): ValueSource | undefined {
    return this.#transformer === identityTransformer ? this : undefined
  }

  /** The value of a record, as stored. */
  readValue({ key, revision }: Pick<Entry, 'key' | 'revision'>): Uint8Array {
    if (this.#isClosing) throw new StorageError({ code: 'Closed' })
    const bytes = this.#environment.recordsInPlace.get(revision)
    const record = bytes === undefined ? undefined : readRecord(bytes, revision)
    if (record?.entry.key !== key) throw unavailable('corrupt', `the record of revision ${revision} cannot be read`)
    return new Uint8Array(record.entry.value)
  }

  checkWrite(key: string): void {
    this.#transformer.checkWrite?.(key)
  }

  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean {
    return this.#transformer.isStale(entry)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#closing.abort(new StorageError({ code: 'Closed' }))
    await this.#defragmenting?.catch(() => undefined)
    await this.#removing?.catch(() => undefined)
    await this.#environment.root.close()
  }

  async #defragment(): Promise<void> {
    const { signal } = this.#closing
    const copy = await StoreCopy.create(this.#dir)
    const former = this.#environment
    let formerDir: string
    try {
      for (let round = 1; round <= maxRounds; round++) {
        if ((await copy.round(former, signal)) <= recordsOfLastRound) break
      }
      formerDir = await this.#commitTurns.run(async () => {
        await copy.round(former, signal)
        const dir = await copy.takePlace(former)
        this.#environment = copy.environment
        return dir
      })
    } catch (error) {
      await copy.discard()
      throw error
    }
    await former.root.close()
    rmSync(formerDir, { recursive: true, force: true })
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
      for (const entry of some) holdValue(entry)
      const compacted = encodeCompacted(this.#compacted)
      const outcomes: Promise<boolean>[] = []
      const batch = this.#environment.records.batch(() => {
        outcomes.push(this.#environment.metadata.put('compacted', compacted))
        for (const { revision } of some) outcomes.push(this.#environment.records.remove(revision))
      })
      await allCommitted([batch, ...outcomes])
      this.#superseded.splice(0, some.length)
    } while (this.#superseded.length > 0 && !this.#isClosing)
  }
}

/**
 * Rejects a second opening: each environment that has read occupies a slot in LMDB's reader table until it closes or dies, and the
 * operating system knows which processes are alive. One slot belongs to this store.
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
