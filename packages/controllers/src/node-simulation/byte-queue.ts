const nothing = Buffer.alloc(0)

/**
 * A FIFO of bytes. Adding many small chunks takes time linear in their bytes and does not retain a buffer for each chunk.
 * Returned buffers stay valid but may be slices of a larger buffer; copy what is kept for long.
 */
export class ByteQueue {
  #bytes: Buffer = nothing
  #start = 0
  #end = 0
  /** Whether the queue has allocated `#bytes` and may therefore write behind its end. */
  #isOwn = false

  get length(): number {
    return this.#end - this.#start
  }

  push(part: Buffer): void {
    if (this.length === 0) {
      this.#bytes = part
      this.#start = 0
      this.#end = part.length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.#end + part.length > this.#bytes.length) this.#grow(part.length)
    this.#end += part.copy(this.#bytes, this.#end)
  }

  /** Returns the first bytes; undefined while there are fewer. */
  peek(length: number): Buffer | undefined {
    return this.length < length ? undefined : this.#bytes.subarray(this.#start, this.#start + length)
  }

  /** Removes and returns the first bytes, at most as many as there are. */
  take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#start, Math.min(this.#start + length, this.#end))
    this.#start += taken.length
    if (this.length === 0) this.clear()
    return taken
  }

  clear(): void {
    this.#bytes = nothing
    this.#start = 0
    this.#end = 0
    this.#isOwn = false
  }

  /** Doubles the capacity, so that each byte is copied a constant number of times. */
  #grow(added: number): void {
    const grown = Buffer.allocUnsafe(2 * this.length + added)
    const length = this.#bytes.copy(grown, 0, this.#start, this.#end)
    this.#bytes = grown
    this.#start = 0
    this.#end = length
    this.#isOwn = true
  }
}
