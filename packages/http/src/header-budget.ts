import type { ServerHttp2Stream } from 'node:http2'
import type { RequestHead } from './header-reader.ts'

/** Smaller lists are not charged, because the limit of streams bounds their number. */
const smallBytes = 16 * 1024

/** Bounds the memory of the header lists of one connection while their streams are open. */
export class HeaderBudget {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Charges a head until its stream closes. A head above the budget is discarded as too large. */
  charge(stream: ServerHttp2Stream, { list }: RequestHead): void {
    const { size } = list
    if (size < smallBytes || list.tooLarge) return
    if (this.#bytes + size > this.#limit) {
      list.discard()
      return
    }
    this.#bytes += size
    stream.once('close', () => {
      this.#bytes -= size
    })
  }
}
