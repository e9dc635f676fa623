/**
 * Randomness: the machine's, and a repeatable one for tests.
 */

import type { Random } from './interfaces.ts'
import { randomText } from './random-text.ts'

/** Characters of generated names: no vowels, so that no words come out, and nothing that looks like something else. */
export const nameSuffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Characters that are added to a `generateName`. */
export const nameSuffixLength = 5

/** Longest part of a `generateName` that is kept. */
export const maxGenerateNameLength = 63 - nameSuffixLength

/** The platform's cryptographic source. */
export const systemRandom: Random = {
  ...fromBytes(systemBytes),
  uuid: () => crypto.randomUUID(),
}

/** The same sequence for the same seed. For tests only: it can be predicted. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  return fromBytes((size) => Uint8Array.from({ length: size }, () => next() & 255))
}

/** The name for a `generateName`: its first 58 characters and 5 random ones. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, maxGenerateNameLength) + random.nameSuffix(nameSuffixLength)
}

function systemBytes(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
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
