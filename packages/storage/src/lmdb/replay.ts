/** Restores a state, and the events after it, from the records of a journal. */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { deleteEvent, putEvent } from '../mvcc/entries.ts'
import type { InitialState } from '../mvcc/mvcc-state.ts'
import { StorageError } from '../storage-error.ts'
import { identityTransformer, type ValueTransformer } from '../value-transformer.ts'
import { unavailable } from './data-dir.ts'
import { type JournalRecord, readRecord, restoreRecord } from './record.ts'

export interface Replayed {
  readonly initial: InitialState
  /** Unreachable records, left by an interrupted compaction. */
  readonly superseded: readonly Revision[]
}

/**
 * Worked history, `compacted` at 4:
 *
 *     2 put /a    superseded by 3
 *     3 put /a    superseded by 4
 *     4 delete /a superseded: a deletion outside the event window
 *     5 put /b    the first event; the state before it is empty
 *
 * A past value that cannot be decrypted, because its key was removed after the rotation to another one, shortens the history: it
 * begins where that value was superseded.
 *
 * @throws StorageError `Unavailable` with reason `corrupt` when a record is unreadable or missing, `encryption` when a present value
 * cannot be decrypted
 */
export function replay(
  records: () => Iterable<{ key: Revision; value: Buffer }>,
  compacted: Revision,
  transformer: ValueTransformer = identityTransformer,
): Replayed {
  const current = new Map<string, Entry>()
  const unreadable = new UnreadableValues(transformer, compacted)
  const superseded: Revision[] = []
  const events: StorageEvent[] = []
  let entries: Entry[] | undefined
  for (const { key: revision, value } of records()) {
    const kept = readRecord(value, revision)
    if (kept === undefined) throw corrupt(revision, 'cannot be read')
    const record = unreadable.restore(kept)
    const { type, entry } = record
    const previous = current.get(entry.key)
    if (revision > compacted) {
      entries ??= [...current.values()]
      events.push(nextEvent(record, previous, compacted + events.length + 1))
    } else {
      if (previous !== undefined) superseded.push(previous.revision)
      if (type === 'delete') superseded.push(revision)
    }
    if (type === 'put') current.set(entry.key, entry)
    else current.delete(entry.key)
  }
  unreadable.check()
  if (unreadable.readableFrom > compacted) return replay(records, unreadable.readableFrom, transformer)
  return { initial: { compacted, entries: entries ?? [...current.values()], events }, superseded }
}

/** Keys whose newest value cannot be decrypted. */
class UnreadableValues {
  readonly #transformer: ValueTransformer
  readonly #errors = new Map<string, StorageError>()
  /** The oldest revision from which all values are readable. */
  readableFrom: Revision

  constructor(transformer: ValueTransformer, compacted: Revision) {
    this.#transformer = transformer
    this.readableFrom = compacted
  }

  restore(kept: JournalRecord): JournalRecord {
    const { key, revision } = kept.entry
    const wasUnreadable = this.#errors.delete(key)
    try {
      const record = restoreRecord(kept, this.#transformer)
      if (wasUnreadable) this.readableFrom = Math.max(this.readableFrom, revision)
      return record
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (kept.type === 'put') this.#errors.set(key, error)
      else this.readableFrom = Math.max(this.readableFrom, revision)
      return kept
    }
  }

  /** @throws StorageError */
  check(): void {
    for (const error of this.#errors.values()) throw error
  }
}

function nextEvent(
  { type, entry }: { type: StorageEvent['type']; entry: Entry },
  previous: Entry | undefined,
  expected: Revision,
) {
  if (entry.revision !== expected) throw corrupt(expected, 'is missing')
  if (type === 'put') return putEvent(entry, previous)
  if (previous === undefined) throw corrupt(entry.revision, 'deletes a missing key')
  return deleteEvent(entry, previous)
}

function corrupt(revision: Revision, problem: string) {
  return unavailable('corrupt', `the record of revision ${revision} ${problem}`)
}
