/** Restores a state, and the events after it, from the records of a journal. */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { deleteEvent, putEvent } from '../mvcc/entries.ts'
import type { InitialState } from '../mvcc/mvcc-state.ts'
import { unavailable } from './data-dir.ts'
import { readRecord } from './record.ts'

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
 * @throws StorageError `Unavailable` with reason `corrupt` when a record is unreadable or missing
 */
export function replay(records: Iterable<{ key: Revision; value: Buffer }>, compacted: Revision): Replayed {
  const current = new Map<string, Entry>()
  const superseded: Revision[] = []
  const events: StorageEvent[] = []
  let entries: Entry[] | undefined
  for (const { key: revision, value } of records) {
    const record = readRecord(value, revision)
    if (record === undefined) throw corrupt(revision, 'cannot be read')
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
  return { initial: { compacted, entries: entries ?? [...current.values()], events }, superseded }
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
