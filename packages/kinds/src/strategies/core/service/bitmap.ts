/**
 * Which values of a range are in use, as kube-apiserver stores it: bit `i` of a big-endian integer without leading zeros stands for
 * the value at position `i`.
 *
 *     positions 0 and 9 in use: 00000010 00000001
 */
export class Bitmap {
  /** The integer, least significant byte first. */
  #bytes: number[]

  /** @param data the stored integer */
  constructor(data: Uint8Array = new Uint8Array()) {
    this.#bytes = [...data].reverse()
  }

  has(position: number): boolean {
    return (((this.#bytes[position >> 3] ?? 0) >> (position & 7)) & 1) === 1
  }

  set(position: number): void {
    const at = position >> 3
    while (this.#bytes.length <= at) this.#bytes.push(0)
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (position & 7))
  }

  clear(position: number): void {
    const at = position >> 3
    const byte = this.#bytes[at]
    if (byte !== undefined) this.#bytes[at] = byte & ~(1 << (position & 7))
  }

  /** The positions in use, in order. */
  *positions(): Generator<number> {
    for (const [at, byte] of this.#bytes.entries()) {
      for (let bit = 0; bit < 8 && byte >> bit !== 0; bit++) if (((byte >> bit) & 1) === 1) yield at * 8 + bit
    }
  }

  toData(): Uint8Array {
    let length = this.#bytes.length
    while (length > 0 && this.#bytes[length - 1] === 0) length--
    return Uint8Array.from(this.#bytes.slice(0, length).reverse())
  }
}
