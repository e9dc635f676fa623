/** The system source of randomness, and a reproducible one for tests. */

import { RandomChoices } from '@krmkit/base/random-choices'
import type { Random } from './interfaces.ts'
import { randomText } from './random-text.ts'

/** Alphabet of name suffixes: no vowels, to avoid words, and no ambiguous characters. */
export const nameSuffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Length of the suffix added to a `generateName`. */
export const nameSuffixLength = 5

/** Maximum length of the kept part of a `generateName`. */
export const maxGenerateNameLength = 63 - nameSuffixLength

/** The platform's cryptographic random source. */
export const systemRandom: Random = {
  ...fromBytes(systemBytes),
  uuid: () => crypto.randomUUID(),
}

/**
 * A reproducible, predictable source for tests: the same seed yields the same sequence.
 *
 * @example
 * import { seededRandom } from '@krmkit/meta'
 * seededRandom(1).nameSuffix(5) // 'qzv47'
 */
export function seededRandom(seed: number): Random {
  const choices = new RandomChoices(seed)
  return fromBytes((size) => choices.bytes(size))
}

/**
 * Generates a name from a `generateName`: its first 58 characters and 5 random ones.
 *
 * @example
 * import { generateName, seededRandom } from '@krmkit/meta'
 * generateName('web-', seededRandom(1)) // 'web-qzv47'
 */
export function generateName(base: string, random: Random): string {
  return base.slice(0, maxGenerateNameLength) + random.nameSuffix(nameSuffixLength)
}

/** Pool of random bytes for small requests, because a platform call is expensive. Each byte is handed out once. */
const pool = new Uint8Array(1024)
let poolAt = pool.length

function systemBytes(size: number): Uint8Array {
  if (size <= 64) return pooledBytes(size)
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

function pooledBytes(size: number): Uint8Array {
  if (poolAt + size > pool.length) {
    crypto.getRandomValues(pool)
    poolAt = 0
  }
  const bytes = pool.slice(poolAt, poolAt + size)
  // Bytes that were handed out are erased.
  pool.fill(0, poolAt, poolAt + size)
  poolAt += size
  return bytes
}

function fromBytes(bytes: (size: number) => Uint8Array): Random {
  return {
    bytes,
    uuid() {
      const raw = bytes(16)
      raw[6] = ((raw[6] as number) & 0x0f) | 0x40
      raw[8] = ((raw[8] as number) & 0x3f) | 0x80
      let hex = ''
      for (let i = 0; i < 16; i++) {
        if (i === 4 || i === 6 || i === 8 || i === 10) hex += '-'
        hex += (raw[i] as number).toString(16).padStart(2, '0')
      }
      return hex
    },
    nameSuffix: (length) => randomText({ bytes }, nameSuffixAlphabet, length),
  }
}
