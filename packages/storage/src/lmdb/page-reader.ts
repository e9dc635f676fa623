import { readSync } from 'node:fs'

/** Pages read at once when pages are visited in the order of the file. */
const blockPages = 32
/** Distance to the page before up to which the order counts as that of the file. */
const nearPages = 4

/** Reads pages of a file one by one. Pages that were written one after the other lie side by side, and are read in blocks. */
export class PageReader {
  readonly #file: number
  readonly #pageSize: number
  readonly #block: Buffer
  /** The first page in the block, and the number of bytes in it. */
  #first = 0
  #bytes = 0
  #last = 0

  /** @param pageSize in bytes */
  constructor(file: number, pageSize: number) {
    this.#file = file
    this.#pageSize = pageSize
    this.#block = Buffer.allocUnsafeSlow(blockPages * pageSize)
  }

  /** Fills a buffer, of a page at most, with the beginning of a page. @returns false when the file ends before the buffer is full */
  read(number: number, into: Buffer): boolean {
    const distance = number - this.#last
    this.#last = number
    let start = (number - this.#first) * this.#pageSize
    if (start < 0 || start + into.length > this.#bytes) {
      const pages = distance > 0 && distance <= nearPages ? blockPages : 1
      this.#bytes = readSync(this.#file, this.#block, 0, pages * this.#pageSize, number * this.#pageSize)
      this.#first = number
      start = 0
    }
    return this.#block.copy(into, 0, start, Math.min(start + into.length, this.#bytes)) === into.length
  }
}
