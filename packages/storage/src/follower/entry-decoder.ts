import type { Entry } from '../interfaces.ts'
import { makeEntry, ownBytes } from '../mvcc/entries.ts'
import { StorageError } from '../storage-error.ts'
import type { RemoteEntry } from './remote-backend.ts'
import type { StoredForm } from './stored-form.ts'

/**
 * Decodes the entries of a remote store, and records the keys of values that cannot be decrypted. While the store is being opened, such
 * values are not reported: there may be many past values whose key was removed after a rotation, and for a present value `check` throws.
 */
export class EntryDecoder {
  readonly #form: StoredForm
  readonly #onError: (error: unknown) => void
  readonly #undecryptable = new Map<string, StorageError>()
  #hasFailed = false
  #isOpening = true

  /** @param onError called for values that cannot be decoded */
  constructor(form: StoredForm, onError: (error: unknown) => void) {
    this.#form = form
    this.#onError = onError
  }

  /** Whether any present or past value could not be decrypted. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** @returns `undefined` for a value of another program, and for one that cannot be decoded */
  decode({ key, value: stored, revision, created }: RemoteEntry): Entry | undefined {
    try {
      const value = this.#form.decode(key, stored, revision)
      return value === undefined ? undefined : makeEntry(key, ownBytes(value), { revision, created })
    } catch (cause) {
      if (cause instanceof StorageError) {
        this.#hasFailed = true
        this.#undecryptable.set(key, cause)
        if (!this.#isOpening) this.#onError(cause)
      } else this.#onError(new Error(`the value at ${key} cannot be decoded`, { cause }))
      return undefined
    }
  }

  /** Called when a key gets another value or is deleted. */
  superseded(key: string): void {
    if (this.#hasFailed) this.#undecryptable.delete(key)
  }

  /** Called once the store is open. @throws StorageError `Unavailable` with reason `encryption` when a present value cannot be decrypted */
  check(): void {
    this.#isOpening = false
    for (const error of this.#undecryptable.values()) throw error
  }
}
