import { readSync } from 'node:fs'

/** Number of pages read at once when pages are visited in file order. */
const blockPages = 32
/** Maximum distance to the previous page that counts as file order. */
const nearPages = 4

/** Reads pages of a file one by one. Pages that were written one after the other are adjacent, so they are read in blocks. */
export class PageReader {
  readonly #file: number
  readonly #pageSize: number
  readonly #block: Buffer
  /** The first page in the block, and the number of valid bytes in the block. */
  #first = 0
  #bytes = 0
  #last = 0

  /** @param pageSize in bytes */
  constructor(file: number, pageSize: number) {
    this.#file = file
    this.#pageSize = pageSize
    this.#block = Buffer.allocUnsafeSlow(blockPages * pageSize)
  }

  /** Fills a buffer of at most one page with the beginning of a page. @returns false when the file ends before the buffer is full */
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
