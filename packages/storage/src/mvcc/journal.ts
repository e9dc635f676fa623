import type { Revision, StorageEvent } from '../interfaces.ts'

/**
 * What makes writes durable under a store. The store never calls `commit` while another commit is under way, but may
 * call `compact` at any time; what it has not been told to be durable stays invisible.
 */
export interface Journal {
  /**
   * Keeps the events, all or none, and resolves when they would survive a crash. They follow each other and the
   * commits before them without a gap in their revisions. Rejecting makes the store read-only.
   */
  commit(events: readonly StorageEvent[]): Promise<void>
  /**
   * Forgets history before `revision`: the writes made at the `superseded` revisions will not be asked for again.
   * May be interrupted anywhere: what is left over is only garbage.
   */
  compact(revision: Revision, superseded: readonly Revision[]): Promise<void>
  close(): Promise<void>
}
