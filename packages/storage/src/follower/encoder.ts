import type { Encode, Revision } from '../interfaces.ts'

/** Calls the `encode` functions of writes, which must not write to the store. */
export class Encoder {
  #isEncoding = false

  /** @throws Error within a call of `encode` */
  requireIdle(): void {
    if (this.#isEncoding) throw new Error('encode must not write to the store it encodes for')
  }

  encode(encode: Encode, revision: Revision): Uint8Array {
    this.#isEncoding = true
    try {
      const value = encode(revision)
      if (!(value instanceof Uint8Array)) throw new TypeError('encode must return a Uint8Array')
      return value
    } finally {
      this.#isEncoding = false
    }
  }
}
