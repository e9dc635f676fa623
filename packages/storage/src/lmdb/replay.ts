/** Restores a state, and the events after it, from the records of a journal. */
import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { deleteEvent, makeEntryBelow, putEvent, type ValueSource } from '../mvcc/entries.ts'
import type { InitialState } from '../mvcc/mvcc-state.ts'
import { StorageError } from '../storage-error.ts'
import { identityTransformer, isEncrypted, type ValueTransformer } from '../value-transformer.ts'
import { unavailable } from './data-dir.ts'
import { type JournalRecord, type RecordHead, readRecordHead, restoreRecord, withValue } from './record.ts'

export interface Replayed {
  readonly initial: InitialState
  /** Unreachable records, left by an interrupted compaction. */
  readonly superseded: readonly Revision[]
}

export interface ReplayOptions {
  readonly transformer?: ValueTransformer
  /** Reads values on demand, so that the buffers of `records` may be reused. Absent: values are views of these buffers. */
  readonly values?: ValueSource
}

/**
 * Worked history, `compacted` at 4:
 *
 *     2 put /a    superseded by 3
 *     3 put /a    superseded by 4
 *     4 delete /a superseded: a deletion outside the event window
 *     5 put /b    the first event; the state before it is empty
 *
 * A past value may be impossible to decrypt, because its key was removed after a rotation. The history then begins where this value was
 * superseded.
 *
 * @throws StorageError `Unavailable` with reason `corrupt` when a record is unreadable or missing, `encryption` when a present value cannot
 * be decrypted
 */
export function replay(
  records: () => Iterable<{ key: Revision; value: Buffer }>,
  compacted: Revision,
  options: ReplayOptions = {},
): Replayed {
  const { transformer = identityTransformer, values } = options
  const current = new Map<string, Entry>()
  const unreadable = new UnreadableValues(transformer, compacted)
  const readEntry = entryReader({ transformer, values, unreadable })
  const superseded: Revision[] = []
  const events: StorageEvent[] = []
  let entries: Entry[] | undefined
  for (const { key: revision, value } of records()) {
    const head = readRecordHead(value, revision)
    if (head === undefined) throw corrupt(revision, 'cannot be read')
    const previous = current.get(head.key)
    const entry = readEntry(head, { bytes: value, revision, previous })
    const { type } = head
    if (revision > compacted) {
      entries ??= [...current.values()]
      events.push(nextEvent({ type, entry }, previous, compacted + events.length + 1))
    } else {
      if (previous !== undefined) superseded.push(previous.revision)
      if (type === 'delete') superseded.push(revision)
    }
    if (type === 'put') current.set(entry.key, entry)
    else current.delete(entry.key)
  }
  unreadable.check()
  if (unreadable.readableFrom > compacted) return replay(records, unreadable.readableFrom, options)
  return { initial: { compacted, entries: entries ?? [...current.values()], events }, superseded }
}

interface RecordContext {
  readonly bytes: Buffer
  readonly revision: Revision
  readonly previous: Entry | undefined
}

/** Returns a function that creates the entry of a record: with a value that is read on demand, or with the restored value. */
function entryReader({
  transformer,
  values,
  unreadable,
}: {
  readonly transformer: ValueTransformer
  readonly values: ValueSource | undefined
  readonly unreadable: UnreadableValues
}): (head: RecordHead, context: RecordContext) => Entry {
  const restored = (head: RecordHead, { bytes, revision }: RecordContext) => {
    const kept = withValue(head, bytes, revision)
    const { entry } = unreadable.restore(kept)
    return { entry, isAsStored: entry === kept.entry }
  }
  if (values === undefined) return (head, context) => restored(head, context).entry
  // Reuses the key string of an earlier entry.
  const below = ({ key, created, valueStart }: RecordHead, { bytes, revision, previous }: RecordContext) =>
    makeEntryBelow(previous?.key ?? key, { revision, created, size: bytes.length - valueStart, source: values })
  return (head, context) => {
    // The identity transformer returns values unchanged, so no view of the value is needed.
    if (transformer === identityTransformer && !isEncrypted(context.bytes, head.valueStart)) return below(head, context)
    const { entry, isAsStored } = restored(head, context)
    return isAsStored ? below(head, context) : entry
  }
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
