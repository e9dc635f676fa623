import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import type { JournalStats } from '../stats.ts'
import type { ValueSource } from './entries.ts'

/**
 * Makes the writes of a store durable. The store never runs two commits at once, but may call `compact` at any time. Writes stay
 * invisible until their commit resolves.
 */
export interface Journal {
  /**
   * Stores all events or none, and resolves when they would survive a crash. Revisions are consecutive within and across commits. After a
   * rejection, `recover` shows whether the events are stored.
   */
  commit(events: readonly StorageEvent[]): Promise<void>
  /**
   * Reads the newest stored revision; called after a rejected commit. The next commit continues after this revision. @throws while the
   * journal cannot be read
   */
  recover(): Promise<Revision>
  /**
   * Drops history before `revision`. The writes of the `superseded` entries are unreachable, but readers may hold the entries, so their
   * values are loaded into memory before removal. An interruption at any point only leaves garbage.
   */
  compact(revision: Revision, superseded: readonly Entry[]): Promise<void>
  /** Reads committed values that are not removed yet. Absent: superseded values stay in memory. */
  readonly values?: ValueSource | undefined
  /** As in `Storage`. */
  isStale?(entry: Pick<Entry, 'key' | 'revision'>): boolean
  stats?(): JournalStats
  /** As in `Storage`. */
  defragment?(): Promise<void>
  /** Called before a write is ordered. @throws StorageError when the write cannot be committed at present */
  checkWrite?(key: string): void
  close(): Promise<void>
}
