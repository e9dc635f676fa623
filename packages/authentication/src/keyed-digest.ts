import { createHmac, createSecretKey } from 'node:crypto'
import type { Random } from '@krmkit/meta'

/** Turns a secret text into one that may be kept and compared. */
export type KeyedDigest = (text: string) => string

/**
 * HMAC-SHA-256 under a key that only this instance holds. What is looked up by it gives nothing away: neither memory nor the
 * time of a look-up says anything about the texts.
 */
export function keyedDigest(random: Pick<Random, 'bytes'>): KeyedDigest {
  const key = createSecretKey(random.bytes(32))
  return (text) => createHmac('sha256', key).update(text).digest('base64')
}
