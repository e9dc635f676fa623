import type { Entry, Revision } from './interfaces.ts'
import { StorageError } from './storage-error.ts'

/** Where a value is stored. */
export interface ValuePlace {
  /** The key of the store. */
  readonly key: string
  /** The key in the medium. It is authenticated, so a value that was stored at one path cannot be read at another. */
  readonly path: Uint8Array
}

/** A value as stored. */
export interface StoredValue {
  readonly key: string
  readonly stored: Uint8Array
}

/** Transforms values on their way to and from the medium of a store; values in memory are not transformed. */
export interface ValueTransformer {
  /** Returns the bytes to store. */
  toStorage(place: ValuePlace, value: Uint8Array): Uint8Array
  /** @throws StorageError `Unavailable` with reason `encryption` when the value cannot be read */
  fromStorage(place: ValuePlace & { readonly revision: Revision }, stored: Uint8Array): Uint8Array
  /**
   * Fetches what `fromStorage` needs to read these values, such as data keys; undefined when nothing is missing.
   *
   * @returns rejects with StorageError `Unavailable` when a later attempt may succeed
   */
  prepare?(values: readonly StoredValue[]): Promise<void> | undefined
  /** Called before a write is ordered. @throws StorageError `Unavailable` with reason `remote` while `toStorage` would fail */
  checkWrite?(key: string): void
  /** Called with the result of `toStorage` when it has been stored, because the configuration may have changed in between. */
  stored(entry: Pick<Entry, 'key' | 'revision'>, stored: Uint8Array): void
  /** Whether the stored bytes of the entry differ from what `toStorage` would return now, for example because of another key. */
  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean
}

/** Prefix of every encrypted value. */
const encryptedPrefix = Buffer.from('k8s:enc:')

/** @param start where the value begins in the bytes */
export function isEncrypted(stored: Uint8Array, start = 0): boolean {
  if (stored.byteLength - start < encryptedPrefix.length) return false
  for (let at = 0; at < encryptedPrefix.length; at++) if (stored[start + at] !== encryptedPrefix[at]) return false
  return true
}

/** Stores values unchanged, and refuses to read encrypted values. */
export const identityTransformer: ValueTransformer = {
  toStorage: (_place, value) => value,
  fromStorage({ key }, stored) {
    if (isEncrypted(stored)) throw undecryptable(key, 'identity transformer tried to read encrypted data')
    return stored
  },
  stored: () => undefined,
  isStale: () => false,
}

/** Passes stored values through unchanged, encrypted or not: for records that are moved without being read. */
export const keptTransformer: ValueTransformer = { ...identityTransformer, fromStorage: (_place, stored) => stored }

export function undecryptable(key: string, problem: string): StorageError {
  return new StorageError({
    code: 'Unavailable',
    reason: 'encryption',
    problem: `the value at ${key} cannot be decrypted: ${problem}`,
  })
}
