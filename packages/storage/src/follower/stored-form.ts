import type { Entry, Revision } from '../interfaces.ts'
import type { ValueTransformer } from '../value-transformer.ts'
import type { RemoteEntry } from './remote-backend.ts'

/**
 * Converts between the bytes of a `Storage`, which may contain the revision of their write, and the bytes in a remote store, which cannot
 * contain it, because the remote store assigns the revision when it stores them.
 */
export interface StoredForm {
  /** The bytes to store. @param value as encoded for revision 0 @param memo that of the write */
  encode(key: string, value: Uint8Array, memo?: unknown): Uint8Array
  /** The bytes to serve; `undefined` for a value of another program. @throws when `stored` is damaged */
  decode(key: string, stored: Uint8Array, revision: Revision): Uint8Array | undefined
  /** The served bytes with another revision, for the last state of a deleted key. */
  atRevision(key: string, value: Uint8Array, revision: Revision): Uint8Array
  /** Whether stored bytes come from the sent ones, for remote stores that change bytes. Default: whether both are equal. */
  isStoredAs?(sent: Uint8Array, remote: Omit<RemoteEntry, 'created'>): boolean
  /** Called with the result of `encode` when it has been stored. */
  stored?(entry: Pick<Entry, 'key' | 'revision'>, stored: Uint8Array): void
  /** Like `isStale` of `Storage`. */
  isStale?(entry: Pick<Entry, 'key' | 'revision'>): boolean
  /** Lifetime of a key in seconds; absent or undefined: unlimited. */
  ttlSeconds?(key: string): number | undefined
  /** Collections whose path in the remote store differs from their key prefix. */
  readonly collections?: readonly StoredCollection[]
}

export interface StoredCollection {
  /** `/core/services/` */
  readonly prefix: string
  /** Path below the root of the remote store, such as `services/specs/`. */
  readonly path: string
}

/** A form whose stored bytes are transformed. @param pathOf the key in the remote store */
export function transformedForm(
  form: StoredForm,
  transformer: ValueTransformer,
  pathOf: (key: string) => Uint8Array,
): StoredForm {
  return {
    ...form,
    encode(key, value, memo) {
      transformer.checkWrite?.(key)
      return transformer.toStorage({ key, path: pathOf(key) }, form.encode(key, value, memo))
    },
    decode: (key, stored, revision) =>
      form.decode(key, transformer.fromStorage({ key, path: pathOf(key), revision }, stored), revision),
    stored: (entry, stored) => transformer.stored(entry, stored),
    isStale: (entry) => transformer.isStale(entry),
  }
}

/** Stores bytes unchanged. */
export const opaqueForm: StoredForm = {
  encode: (_key, value) => value,
  decode: (_key, stored) => stored,
  atRevision: (_key, value) => value,
}
