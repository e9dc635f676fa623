import { hmacSha256 } from '@krmkit/base/platform'
import type { Random } from '@krmkit/meta'

/** Maps a secret to a digest that may be stored and compared. */
export type KeyedDigest = (text: string) => string

const keyBytes = 64

/**
 * Creates HMAC-SHA-256 with a new random key. Look-ups by this digest leak no information about secrets, neither through
 * timing nor through stored keys.
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
  return hmacSha256(random.bytes(keyBytes))
}
