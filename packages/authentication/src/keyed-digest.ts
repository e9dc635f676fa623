import * as crypto from 'node:crypto'
import type { Random } from '@krmkit/meta'

/** Turns a secret text into one that may be kept and compared. */
export type KeyedDigest = (text: string) => string

const blockBytes = 64
const digestBytes = 32

/**
 * HMAC-SHA-256 under a key that only this instance holds. What is looked up by it gives nothing away: neither memory nor the
 * time of a look-up says anything about the texts.
 *
 * Every request with a token pays for this. The key fills a block of the hash with bytes below 128, so that the padded key is
 * text: then the short way of hashing serves, which is several times as fast as a `Hmac` object.
 */
export function createKeyedDigest(random: Pick<Random, 'bytes'>): KeyedDigest {
  const key = Buffer.from(random.bytes(blockBytes).map((byte) => byte & 0x7f))
  if (typeof crypto.hash !== 'function') {
    const secret = crypto.createSecretKey(key)
    return (text) => crypto.createHmac('sha256', secret).update(text).digest('binary')
  }
  const inner = Buffer.from(key.map((byte) => byte ^ 0x36)).toString('binary')
  // The second hash is over the padded key and the first hash, which is written behind it.
  const outer = Buffer.alloc(blockBytes + digestBytes)
  outer.set(key.map((byte) => byte ^ 0x5c))
  return (text) => {
    outer.write(crypto.hash('sha256', inner + text, 'binary'), blockBytes, 'latin1')
    return crypto.hash('sha256', outer, 'binary')
  }
}

/** Whether two texts are the same. How long that takes says at most how long they are. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && crypto.timingSafeEqual(a, b)
}
