import * as crypto from 'node:crypto'
import type { Random } from '@krmkit/meta'

/** Maps a secret to a digest that may be stored and compared. */
export type KeyedDigest = (text: string) => string

const blockBytes = 64
const digestBytes = 32

/**
 * Creates HMAC-SHA-256 with a new random key. Look-ups by this digest leak nothing about secrets, neither by timing nor by stored keys.
 *
 * This is a hot path: every request with a token computes it. The key fills one hash block with bytes below 128, so the padded key is
 * valid text for the one-shot `crypto.hash`, which is several times faster than an `Hmac` object.
 *
 * @example
 * ```ts
 * import { createKeyedDigest } from '@krmkit/authentication'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const digest = createKeyedDigest(systemRandom)
 * digest('s3cret') === digest('s3cret') // true
 * digest('s3cret') === createKeyedDigest(systemRandom)('s3cret') // false
 * ```
 */
export function createKeyedDigest(random: Pick<Random, 'bytes'>): KeyedDigest {
  const key = Buffer.from(random.bytes(blockBytes).map((byte) => byte & 0x7f))
  if (typeof crypto.hash !== 'function') {
    const secret = crypto.createSecretKey(key)
    return (text) => crypto.createHmac('sha256', secret).update(text).digest('binary')
  }
  const inner = Buffer.from(key.map((byte) => byte ^ 0x36)).toString('binary')
  // Input of the outer hash: padded key, then the inner hash.
  const outer = Buffer.alloc(blockBytes + digestBytes)
  outer.set(key.map((byte) => byte ^ 0x5c))
  return (text) => {
    outer.write(crypto.hash('sha256', inner + text, 'binary'), blockBytes, 'latin1')
    return crypto.hash('sha256', outer, 'binary')
  }
}

/** Compares two secrets; the timing depends on their lengths only. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && crypto.timingSafeEqual(a, b)
}
