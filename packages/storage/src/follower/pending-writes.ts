import type { Encode, Entry, Revision } from '../interfaces.ts'
import type { RemoteEntry } from './remote-backend.ts'
import type { StoredForm } from './stored-form.ts'

/** A write that was sent and whose event has not arrived yet. */
export interface PendingWrite {
  readonly type: 'put' | 'delete'
  /** Revision that the key must have. */
  readonly expect: Revision
  readonly stored: Uint8Array
  readonly encode: Encode
  readonly memo: unknown
  /** Set when the event of the write has arrived. */
  entry: Entry | undefined
}

/** Writes in flight: at most one for each key, so that writes to a key take effect in call order. */
export class PendingWrites {
  readonly #writes = new Map<string, PendingWrite>()
  /** The newest write of each key; the next write waits for its end. */
  readonly #last = new Map<string, Promise<void>>()

  /** Runs a write after all earlier writes to the same key; at once without such writes. */
  inOrder<T>(key: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const running = before === undefined ? write() : before.then(write)
    const done: Promise<void> = running.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(key, done)
    void done.then(() => this.#forget(key, done))
    return running
  }

  add(key: string, write: PendingWrite): void {
    this.#writes.set(key, write)
  }

  remove(key: string): void {
    this.#writes.delete(key)
  }

  /** The pending write that stored this value: same key, same bytes. */
  matching(remote: RemoteEntry, { isStoredAs }: Pick<StoredForm, 'isStoredAs'>): PendingWrite | undefined {
    const { key, value } = remote
    const write = this.#writes.get(key)
    if (write === undefined || write.type !== 'put' || write.entry !== undefined) return undefined
    if (Buffer.compare(write.stored, value) === 0) return write
    return isStoredAs?.(write.stored, remote) === true ? write : undefined
  }

  /** The pending deletion of a key at this revision. */
  deletion(key: string, revision: Revision): PendingWrite | undefined {
    const write = this.#writes.get(key)
    return write?.type === 'delete' && write.expect === revision && write.entry === undefined ? write : undefined
  }

  /** Resolves when no writes are in flight. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }

  #forget(key: string, done: Promise<void>): void {
    if (this.#last.get(key) === done) this.#last.delete(key)
  }
}
