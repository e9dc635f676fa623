import type { Entry, Revision } from './interfaces.ts'
import { StorageError } from './storage-error.ts'

/** Where a value is kept. */
export interface ValuePlace {
  /** The key of the store. */
  readonly key: string
  /** The key of the medium: a value that was kept in one place cannot be read in another. */
  readonly path: Uint8Array
}

/** A value as it is kept. */
export interface StoredValue {
  readonly key: string
  readonly stored: Uint8Array
}

/** Changes the bytes of values on their way to and from the medium of a store; values in memory stay as they are. */
export interface ValueTransformer {
  /** The bytes to keep. */
  toStorage(place: ValuePlace, value: Uint8Array): Uint8Array
  /** @throws StorageError `Unavailable` with reason `encryption` when the value cannot be read */
  fromStorage(place: ValuePlace & { readonly revision: Revision }, stored: Uint8Array): Uint8Array
  /**
   * Makes `fromStorage` possible for these values, where it needs what must be fetched; undefined when nothing is missing.
   *
   * @returns rejects with StorageError `Unavailable` when it may succeed later
   */
  prepare?(values: readonly StoredValue[]): Promise<void> | undefined
  /** Called before a write is ordered. @throws StorageError `Unavailable` with reason `remote` while `toStorage` would fail */
  checkWrite?(key: string): void
  /** Called with the result of `toStorage` once it is kept: the configuration may have changed in between. */
  stored(entry: Pick<Entry, 'key' | 'revision'>, stored: Uint8Array): void
  /** Whether the entry is kept in other bytes than `toStorage` would make of its value. */
  isStale(entry: Pick<Entry, 'key' | 'revision'>): boolean
}

/** Begins every encrypted value. */
const encryptedPrefix = Buffer.from('k8s:enc:')

/** @param start where the value begins in the bytes */
export function isEncrypted(stored: Uint8Array, start = 0): boolean {
  if (stored.byteLength - start < encryptedPrefix.length) return false
  for (let at = 0; at < encryptedPrefix.length; at++) if (stored[start + at] !== encryptedPrefix[at]) return false
  return true
}

/** Keeps values as they are, and refuses to read encrypted ones. */
export const identityTransformer: ValueTransformer = {
  toStorage: (_place, value) => value,
  fromStorage({ key }, stored) {
    if (isEncrypted(stored)) throw undecryptable(key, 'identity transformer tried to read encrypted data')
    return stored
  },
  stored: () => undefined,
  isStale: () => false,
}

/** Leaves values as they are kept, encrypted or not: for records that are moved without being read. */
export const keptTransformer: ValueTransformer = { ...identityTransformer, fromStorage: (_place, stored) => stored }

export function undecryptable(key: string, problem: string): StorageError {
  return new StorageError({
    code: 'Unavailable',
    reason: 'encryption',
    problem: `the value at ${key} cannot be decrypted: ${problem}`,
  })
}
