import type { Entry, Revision, StorageEvent } from '../interfaces.ts'

/**
 * Makes the writes of a store durable. The store never runs two commits at once, but may call `compact` at any time. Writes stay
 * invisible until their commit resolves.
 */
export interface Journal {
  /**
   * Stores all events or none, and resolves when they would survive a crash. Revisions are consecutive within and across commits.
   * A rejection makes the store read-only.
   */
  commit(events: readonly StorageEvent[]): Promise<void>
  /**
   * Drops history before `revision`: the writes of the `superseded` revisions are unreachable. May be interrupted at any point,
   * which only leaves garbage.
   */
  compact(revision: Revision, superseded: readonly Revision[]): Promise<void>
  /** As in `Storage`. */
  isStale?(entry: Pick<Entry, 'key' | 'revision'>): boolean
  close(): Promise<void>
}
