import type { ServerHttp2Stream } from 'node:http2'
import type { RequestHead } from './header-reader.ts'

/** Smaller ones are not counted: the number of streams bounds them. */
const smallBytes = 16 * 1024

/** Bounds what the header lists of one connection take while their streams are open. */
export class HeldHeads {
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts a head until its stream closes; one that there is no room for becomes too large. */
  hold(stream: ServerHttp2Stream, { list }: RequestHead): void {
    const { size } = list
    if (size < smallBytes || list.tooLarge) return
    if (this.#bytes + size > this.#limit) {
      list.refuse()
      return
    }
    this.#bytes += size
    stream.once('close', () => {
      this.#bytes -= size
    })
  }
}
