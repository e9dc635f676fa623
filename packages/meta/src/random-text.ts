import type { Random } from './interfaces.ts'

/**
 * Draws characters uniformly from `alphabet`, which has at most 256 characters.
 *
 * @example
 * import { randomText, seededRandom } from '@krmkit/meta'
 * randomText(seededRandom(1), '0123456789abcdef', 8) // '39bdb00c'
 */
export function randomText(random: Pick<Random, 'bytes'>, alphabet: string, length: number): string {
  // Bytes at or above the limit are redrawn, because they would favor the first characters.
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) if (byte < limit) text += alphabet[byte % alphabet.length]
  }
  return text
}
