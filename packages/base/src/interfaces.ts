/** What functions of this package take of the world. `Clock` and `Random` of `@krmkit/meta` have these members. */

/** The time and a timer. */
export interface TimeSource {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels it. */
  setTimeout(fn: () => void, ms: number): () => void
}

/** A source of randomness. */
export interface ByteSource {
  /** `size` random bytes, unpredictable in production. */
  bytes(size: number): Uint8Array
}
