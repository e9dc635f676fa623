/** What an {@link ObjectRing} evicts: the parsed form, not what else is cached with it. */
export interface Evictable {
  object: object | undefined
}

/** Parsed objects in the order in which they were kept. */
export class ObjectRing {
  /** A ring buffer: the oldest of `#count` objects is that many places before `#next`. */
  readonly #ring: (Evictable | undefined)[]
  readonly #sizes: Float64Array
  #next = 0
  #count = 0
  #bytes = 0

  constructor(capacity: number) {
    this.#ring = new Array<Evictable | undefined>(capacity).fill(undefined)
    this.#sizes = new Float64Array(capacity)
  }

  /** Sum of the sizes. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Adds an object, and evicts the oldest one of a full ring. */
  add(cached: Evictable, bytes: number): void {
    if (this.#count === this.#ring.length) this.evictOldest()
    this.#ring[this.#next] = cached
    this.#sizes[this.#next] = bytes
    this.#next = (this.#next + 1) % this.#ring.length
    this.#count++
    this.#bytes += bytes
  }

  /** Requires that the ring is not empty. */
  evictOldest(): void {
    const at = (this.#next - this.#count + this.#ring.length) % this.#ring.length
    const oldest = this.#ring[at]
    if (oldest !== undefined) oldest.object = undefined
    this.#ring[at] = undefined
    this.#bytes -= this.#sizes[at] as number
    this.#count--
  }
}
