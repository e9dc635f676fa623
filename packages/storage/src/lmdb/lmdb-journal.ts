/**
 * The journal in LMDB: a table from revisions to records, and a table of metadata.
 *
 * Records are keyed by revision, so every write is an append (which fills pages and touches few of them), object keys may have
 * any length, and no index needs maintenance: reading all records in order restores the state.
 */
import type { Database, RootDatabase } from 'lmdb'
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import type { Journal } from '../mvcc/journal.ts'
import { firstRevision } from '../mvcc/mvcc-storage.ts'
import { StorageError } from '../storage-error.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { prepareDataDir, unavailable } from './data-dir.ts'
import { maxRecordBytes, transformEvents, writeRecord } from './record.ts'
import { type Replayed, replay } from './replay.ts'

const format = 'krmkit-storage 1'
const tableNames = ['facts', 'records']
/** With this size, typical objects of 1 to 4 KB neither waste half a page nor need overflow pages. */
const pageSize = 8192
const minArenaBytes = 256 * 1024
const maxIdleArenaBytes = 4 * 1024 * 1024
/** Records removed per transaction, so that compaction does not delay writes for long. */
const removalBatchSize = 1024
const asAppend = { append: true } as const

interface RecordTable {
  getRange(): Iterable<{ key: Revision; value: Buffer }>
  getKeysCount(): number
  /** Resolves to false unless the key is greater than all others. */
  put(key: Revision, value: Uint8Array, options: typeof asAppend): Promise<boolean>
  remove(key: Revision): Promise<boolean>
  batch(fn: () => void): Promise<boolean>
}

type MetadataTable = Database<Buffer, string>

export class LmdbJournal implements Journal {
  readonly #root: RootDatabase
  readonly #metadata: MetadataTable
  readonly #records: RecordTable
  readonly #transformer: ValueTransformer
  /** Holds the records of the current commit, which LMDB reads from another thread. */
  #arena = Buffer.alloc(0)
  /** Records to remove, in order: a record must not be removed after its successor, or a restart would restore it. */
  #superseded: Revision[] = []
  #compacted: Revision
  #removing: Promise<void> | undefined
  #isClosing = false

  private constructor(
    root: RootDatabase,
    tables: { metadata: MetadataTable; records: RecordTable; transformer: ValueTransformer },
  ) {
    this.#transformer = tables.transformer
    this.#root = root
    this.#metadata = tables.metadata
    this.#records = tables.records
    this.#compacted = tables.metadata.get('compacted')?.readDoubleLE(0) ?? firstRevision
  }

  /**
   * Opens the directory exclusively.
   *
   * @throws StorageError `Unavailable` when the directory is in use, foreign or inaccessible
   */
  static async open(dir: string, transformer: ValueTransformer = identityTransformer): Promise<LmdbJournal> {
    prepareDataDir(dir)
    const { open } = await loadLmdb()
    const binary = { encoding: 'binary', cache: false } as const
    let root: RootDatabase | undefined
    try {
      root = open({
        ...binary,
        path: dir,
        noSubdir: false,
        maxDbs: 2,
        pageSize,
        overlappingSync: false,
        eventTurnBatching: false,
      })
      const strange = [...root.getKeys()].find((name) => !tableNames.includes(String(name)))
      if (strange !== undefined) throw unavailable('foreign', `${dir} contains data of another program`)
      const metadata: MetadataTable = root.openDB('facts', binary)
      const records = root.openDB('records', binary) as unknown as RecordTable
      rejectSecondOpening(dir, root, metadata)
      const found = metadata.get('format')?.toString()
      if (found === undefined && records.getKeysCount() === 0) metadata.putSync('format', Buffer.from(format))
      else if (found !== format)
        throw unavailable('foreign', `${dir} has the format ${JSON.stringify(found)}, not ${JSON.stringify(format)}`)
      return new LmdbJournal(root, { metadata, records, transformer })
    } catch (cause) {
      await root?.close()
      throw asUnavailable(dir, cause)
    }
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
      const compacted = Buffer.alloc(8)
      compacted.writeDoubleLE(this.#compacted)
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

/** Loads the optional package `lmdb`, so that in-memory storage needs no native code. */
async function loadLmdb(): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb')
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw unavailable('module', `durable storage needs the package lmdb, which cannot be loaded: ${problem}`, cause)
  }
}

/**
 * Rejects a second opening: each environment that has read occupies a slot in LMDB's reader table until it closes or dies, and
 * the operating system knows which processes are alive. One slot is this store's.
 */
function rejectSecondOpening(dir: string, root: RootDatabase, metadata: MetadataTable): void {
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

async function allCommitted(outcomes: readonly Promise<boolean>[]): Promise<boolean[]> {
  try {
    return await Promise.all(outcomes)
  } catch (error) {
    throw await reasonOf(error)
  }
}

/** LMDB rejects with a generic error that carries a promise, which rejects with the reason. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error
  try {
    await error.commitError
    return error
  } catch (reason) {
    return reason
  }
}

function asUnavailable(what: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause
  const problem = cause instanceof Error ? cause.message : String(cause)
  return unavailable(problem.includes('MDB_') ? 'corrupt' : 'access', `${what} cannot be opened: ${problem}`, cause)
}
