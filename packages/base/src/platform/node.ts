/**
 * Functions that runtimes provide under different names: `@krmkit/base/platform`. Bundlers for browsers and edge runtimes
 * select `web.ts` by the export condition `browser`; all others use this module. Both have the same exports and the same
 * results.
 */

import * as crypto from 'node:crypto'
import { setMaxListeners } from 'node:events'

/** Hash functions of {@link digest}. */
export type DigestAlgorithm = 'sha1' | 'sha256' | 'sha512'

/**
 * Computes the digest of the concatenated parts; strings are encoded as UTF-8.
 *
 * @example
 * import { hexText } from '@krmkit/base/bytes'
 * import { digest } from '@krmkit/base/platform'
 * hexText(digest('sha256', ['a', 'b'])).slice(0, 8) // 'fb8e20fc'
 */
export function digest(algorithm: DigestAlgorithm, parts: Iterable<string | Uint8Array>): Uint8Array {
  const hash = crypto.createHash(algorithm)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const blockBytes = 64
const digestBytes = 32

/**
 * Creates HMAC-SHA-256 with a key: a function from text to the 32 bytes of the MAC, as a string of 32 characters.
 *
 * It runs for every request with a token. All 64 key bytes are below 128, so that the padded key is valid text for the
 * one-shot `crypto.hash`, which is several times faster than an `Hmac` object.
 *
 * @param key 64 bytes; their high bits are ignored.
 * @example
 * import { hmacSha256 } from '@krmkit/base/platform'
 * const mac = hmacSha256(new Uint8Array(64).fill(7))
 * mac('a') === mac('a') // true
 * mac('a').length // 32
 */
export function hmacSha256(key: Uint8Array): (text: string) => string {
  const bytes = Buffer.from(key.map((byte) => byte & 0x7f))
  if (typeof crypto.hash !== 'function') {
    const secret = crypto.createSecretKey(bytes)
    return (text) => crypto.createHmac('sha256', secret).update(text).digest('binary')
  }
  const inner = Buffer.from(bytes.map((byte) => byte ^ 0x36)).toString('binary')
  // Input of the outer hash: padded key, then the inner hash.
  const outer = Buffer.alloc(blockBytes + digestBytes)
  outer.set(bytes.map((byte) => byte ^ 0x5c))
  return (text) => {
    outer.write(crypto.hash('sha256', inner + text, 'binary'), blockBytes, 'latin1')
    return crypto.hash('sha256', outer, 'binary')
  }
}

/**
 * Compares two secrets; the timing depends on their lengths only.
 *
 * @example
 * import { equalSecrets } from '@krmkit/base/platform'
 * equalSecrets('s3cret', 's3cret') // true
 */
export function equalSecrets(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && crypto.timingSafeEqual(a, b)
}

/**
 * Disables the leak warning of the runtime for many listeners on a signal.
 *
 * @example
 * import { allowManyListeners } from '@krmkit/base/platform'
 * const closing = new AbortController()
 * allowManyListeners(closing.signal)
 */
export function allowManyListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal)
}

/** Description of the runtime, for `/version` and `/statusz`. */
export interface RuntimeFacts {
  /** For example `node`. */
  readonly name: string
  readonly version: string
  /** For example `linux`. */
  readonly os: string
  /** For example `x64`. */
  readonly architecture: string
}

/**
 * Describes the runtime.
 *
 * @example
 * import { runtimeFacts } from '@krmkit/base/platform'
 * runtimeFacts().name // 'node'
 */
export function runtimeFacts(): RuntimeFacts {
  return { name: 'node', version: process.versions.node, os: process.platform, architecture: process.arch }
}

/** Resource usage of the process. */
export interface ProcessUsage {
  /** User and system CPU time of all threads. */
  readonly cpuSeconds: number
  readonly residentBytes: number
  /** Seconds since the epoch. */
  readonly startTimeSeconds: number
}

/**
 * Returns the resource usage of the process; undefined in runtimes without processes, such as browsers.
 *
 * @example
 * import { processUsage } from '@krmkit/base/platform'
 * const { residentBytes = 0 } = processUsage() ?? {}
 * residentBytes > 0 // true
 */
export function processUsage(): ProcessUsage | undefined {
  const { user, system } = process.cpuUsage()
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startTimeSeconds: performance.timeOrigin / 1000,
  }
}
