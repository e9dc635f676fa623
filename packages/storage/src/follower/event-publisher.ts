import type { Entry, Revision, StorageEvent } from '../interfaces.ts'
import { deleteEvent, makeEntry, ownBytes, putEvent } from '../mvcc/entries.ts'
import type { MvccState } from '../mvcc/mvcc-state.ts'
import type { Encoder } from './encoder.ts'
import type { EntryDecoder } from './entry-decoder.ts'
import type { PendingWrite, PendingWrites } from './pending-writes.ts'
import type { RemoteEntry, RemoteEvent } from './remote-backend.ts'
import type { StoredForm } from './stored-form.ts'

export interface EventPublisherOptions {
  readonly state: MvccState
  readonly form: StoredForm
  readonly decoder: EntryDecoder
  readonly encoder: Encoder
  readonly pending: PendingWrites
  /** Called when a stored value cannot be encoded again with its revision. */
  readonly onError: (error: unknown) => void
}

/** Publishes the events of a remote store. Values that this process wrote are encoded again with their revision; others are decoded. */
export class EventPublisher {
  readonly #state: MvccState
  readonly #form: StoredForm
  readonly #decoder: EntryDecoder
  readonly #encoder: Encoder
  readonly #pending: PendingWrites
  readonly #onError: (error: unknown) => void

  constructor({ state, form, decoder, encoder, pending, onError }: EventPublisherOptions) {
    this.#state = state
    this.#form = form
    this.#decoder = decoder
    this.#encoder = encoder
    this.#pending = pending
    this.#onError = onError
  }

  /** Publishes the events of one or more whole revisions, in order. */
  publish(events: readonly RemoteEvent[]): void {
    for (const event of events) {
      this.#decoder.superseded(event.type === 'put' ? event.entry.key : event.key)
      const applied = event.type === 'put' ? this.#putEvent(event.entry) : this.#deleteEvent(event.key, event.revision)
      if (applied !== undefined) this.#state.publish(applied)
      else this.#state.advance(event.type === 'put' ? event.entry.revision : event.revision)
    }
  }

  #putEvent(remote: RemoteEntry): StorageEvent | undefined {
    const previous = this.#state.peek(remote.key)
    const own = this.#pending.matching(remote, this.#form)
    if (own === undefined) {
      const entry = this.#decoder.decode(remote)
      // A foreign or damaged value that replaces a readable one counts as a deletion.
      if (entry === undefined) return previous === undefined ? undefined : this.#deleteEvent(remote.key, remote.revision)
      return putEvent(entry, previous)
    }
    this.#form.stored?.(remote, own.stored)
    own.entry = this.#ownEntry(own, previous?.key ?? remote.key, remote)
    return own.entry === undefined ? undefined : putEvent(own.entry, previous)
  }

  /** The entry of a write of this process, encoded with its revision instead of decoded. */
  #ownEntry({ encode, memo }: PendingWrite, key: string, remote: RemoteEntry): Entry | undefined {
    const { revision, created } = remote
    try {
      return makeEntry(key, ownBytes(this.#encoder.encode(encode, revision)), { revision, created, memo })
    } catch (error) {
      // The write has already happened, so the stored bytes are decoded instead.
      this.#onError(error)
      return this.#decoder.decode(remote)
    }
  }

  #deleteEvent(key: string, revision: Revision): StorageEvent | undefined {
    const previous = this.#state.peek(key)
    if (previous === undefined) return undefined
    const own = this.#pending.deletion(key, previous.revision)
    const value = this.#lastState(own, previous, revision)
    const entry = makeEntry(previous.key, ownBytes(value), { revision, created: previous.created, memo: own?.memo })
    if (own !== undefined) own.entry = entry
    return deleteEvent(entry, previous)
  }

  #lastState(own: PendingWrite | undefined, previous: Entry, revision: Revision): Uint8Array {
    try {
      if (own !== undefined) return this.#encoder.encode(own.encode, revision)
    } catch (error) {
      // The deletion has already happened, so the previous state is used.
      this.#onError(error)
    }
    return this.#form.atRevision(previous.key, previous.value, revision)
  }
}
