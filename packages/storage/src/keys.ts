/**
 * Key syntax, key order, and the key range of a prefix.
 *
 * Keys are ordered by their UTF-8 bytes, that is by code point. Comparing UTF-16 code units yields the same order unless a key
 * contains surrogates (characters above U+FFFF), hence two comparison functions.
 */
import { compareCodePoints } from '@krmkit/meta/go-text'
import { StorageError } from './storage-error.ts'

/** Maximum length of keys and prefixes, in UTF-16 code units. */
export const maxKeyLength = 4096

/** Whether `a` sorts strictly before `b`. */
export type KeyLess = (a: string, b: string) => boolean

/** Fast; correct for keys without surrogates. */
export const lessByCodeUnit: KeyLess = (a, b) => a < b

/** Correct for all keys. */
export const lessByCodePoint: KeyLess = (a, b) => compareCodePoints(a, b) < 0

const surrogate = /[\ud800-\udfff]/

/** Whether only {@link lessByCodePoint} orders this key correctly. */
export function needsCodePointOrder(key: string): boolean {
  return surrogate.test(key)
}

/** @throws StorageError `InvalidKey` unless `key` is valid for an entry. */
export function checkKey(key: string): void {
  checkCharacters(key)
  if (key.charCodeAt(key.length - 1) === slash) reject(key, 'must not end in a slash')
}

/** @throws StorageError `InvalidKey` unless `prefix` is valid for a collection. */
export function checkPrefix(prefix: string): void {
  checkCharacters(prefix)
  if (prefix.charCodeAt(prefix.length - 1) !== slash) reject(prefix, 'a prefix must end in a slash')
}

/** @throws StorageError `InvalidKey` unless `prefix` is valid for an entry or a collection. */
export function checkKeyOrPrefix(prefix: string): void {
  checkCharacters(prefix)
}

/** The smallest string that sorts after every key of the collection. */
export function endOfPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}0`
}

const slash = 0x2f
const special = /[\0\ud800-\udfff]/
const loneSurrogate = /\p{Surrogate}/u

function checkCharacters(key: string): void {
  if (key.charCodeAt(0) !== slash) reject(key, 'must begin with a slash')
  if (key.length > maxKeyLength) reject(key, `must not be longer than ${maxKeyLength}`)
  if (!special.test(key)) return
  if (key.includes('\0')) reject(key, 'must not contain NUL')
  if (loneSurrogate.test(key)) reject(key, 'must be well-formed Unicode')
}

function reject(key: string, problem: string): never {
  throw new StorageError({ code: 'InvalidKey', key, problem })
}
