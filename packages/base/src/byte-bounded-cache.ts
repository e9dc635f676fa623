/**
 * A cache for data that depends on client input. Its limit is in bytes, because clients choose the length of keys and
 * values.
 */

import type { TimeSource } from './interfaces.ts'

export interface ByteBoundedCacheOptions<K, V> {
  /** Maximum total size in bytes, as counted by {@link estimateBytes}. */
  readonly maxBytes: number
  /** Maximum length of string keys, in characters; entries with longer keys are not stored. Default 4096. */
  readonly maxKeyLength?: number
  /** Maximum size of one entry in bytes; larger ones are not stored. Default: an eighth of `maxBytes`. */
  readonly maxEntryBytes?: number
  /** Size of an entry without its key, in bytes. Default: {@link estimateBytes} of the value. */
  readonly weigh?: (value: V, key: K) => number
  /** Required if entries expire. */
  readonly clock?: Pick<TimeSource, 'now'>
}

interface Entry<V> {
  readonly value: V
  readonly bytes: number
  readonly until: number
}

/** Overhead of an entry in the table, in bytes. */
const entryBytes = 96
const defaultKeyLength = 4096
const minEntries = 8

/**
 * A cache with a byte limit: the oldest entry is evicted first, and entries that are too large are not stored.
 *
 *     maxBytes 300:  set a (100)  set b (100)  set c (100)  set d (100)  -> b c d
 */
export class ByteBoundedCache<V, K = string> {
  readonly #entries = new Map<K, Entry<V>>()
  readonly #maxBytes: number
  readonly #maxEntryBytes: number
  readonly #maxKeyLength: number
  readonly #weigh: (value: V, key: K) => number
  readonly #clock: Pick<TimeSource, 'now'> | undefined
  #bytes = 0

  constructor(options: ByteBoundedCacheOptions<K, V>) {
    this.#maxBytes = options.maxBytes
    this.#maxEntryBytes = options.maxEntryBytes ?? options.maxBytes / minEntries
    this.#maxKeyLength = options.maxKeyLength ?? defaultKeyLength
    this.#weigh = options.weigh ?? estimateBytes
    this.#clock = options.clock
  }

  /** Number of entries. */
  get count(): number {
    return this.#entries.size
  }

  /** Total size in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: K): V | undefined {
    if (typeof key === 'string' && key.length > this.#maxKeyLength) return undefined
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (!this.#isExpired(entry)) return entry.value
    this.#remove(key, entry)
    return undefined
  }

  /**
   * Stores `value`, replacing the key's previous value.
   *
   * @param until Expiry in milliseconds since the epoch. Default: none.
   */
  set(key: K, value: V, until = Number.POSITIVE_INFINITY): void {
    this.delete(key)
    if (typeof key === 'string' && key.length > this.#maxKeyLength) return
    const bytes = entryBytes + (typeof key === 'string' ? key.length * 2 : 0) + this.#weigh(value, key)
    const entry = { value, bytes, until }
    if (bytes > this.#maxEntryBytes || this.#isExpired(entry)) return
    this.#entries.set(key, entry)
    this.#bytes += bytes
    for (const [oldest, each] of this.#entries) {
      if (this.#bytes <= this.#maxBytes && !this.#isExpired(each)) break
      this.#remove(oldest, each)
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#remove(key, entry)
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #isExpired({ until }: Entry<V>): boolean {
    return until !== Number.POSITIVE_INFINITY && this.#clock !== undefined && this.#clock.now() >= until
  }

  #remove(key: K, { bytes }: Entry<V>): void {
    this.#entries.delete(key)
    this.#bytes -= bytes
  }
}

const objectBytes = 48
const memberBytes = 24

const maxDepth = 64

/**
 * Estimates the memory size of a JSON-like value in bytes, two per character; infinite for excessive nesting.
 *
 * @example
 * import { estimateBytes } from '@krmkit/base/byte-bounded-cache'
 * estimateBytes({ name: 'web' }) // 102
 */
export function estimateBytes(value: unknown): number {
  return bytesOf(value, 0)
}

function bytesOf(value: unknown, depth: number): number {
  if (typeof value === 'string') return 16 + value.length * 2
  if (typeof value !== 'object' || value === null) return 8
  if (ArrayBuffer.isView(value)) return objectBytes + value.byteLength
  if (depth >= maxDepth) return Number.POSITIVE_INFINITY
  let bytes = objectBytes
  if (Array.isArray(value)) {
    for (const one of value) bytes += 8 + bytesOf(one, depth + 1)
    return bytes
  }
  for (const [name, one] of Object.entries(value)) bytes += memberBytes + name.length * 2 + bytesOf(one, depth + 1)
  return bytes
}
