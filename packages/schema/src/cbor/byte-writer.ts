/** A growing buffer to which bytes are appended. */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  write(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** Returns the written bytes. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }
}
