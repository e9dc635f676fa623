import { concatBytes } from '@krmkit/base/bytes'
import { pause } from './violation.ts'

/**
 * How events of a watch are written.
 *
 * - `whole`: as the server writes them.
 * - `bytes`: byte by byte, each in a separate write.
 * - `held`: not written until the manner changes, then together in one write.
 * - `cutClosed`, `cutDropped`: half of the next event, then a clean end of the response or a lost connection.
 */
export type StreamManner = 'whole' | 'bytes' | 'held' | 'cutClosed' | 'cutDropped'

const ended = Symbol('ended')

/** The bytes of one watch on their way to the client. */
export class WatchTap {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #onEnd: () => void
  #queue: Uint8Array[] = []
  #manner: StreamManner = 'whole'
  #wake: () => void = () => undefined

  constructor(source: AsyncIterable<Uint8Array>, onEnd: () => void) {
    this.#source = source[Symbol.asyncIterator]()
    this.#onEnd = onEnd
  }

  set manner(manner: StreamManner) {
    this.#manner = manner
    this.#wake()
  }

  push(bytes: Uint8Array): void {
    this.#queue.push(bytes)
    this.#wake()
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    let isOver = false
    const receive = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await this.#source.next()
        if (done === true) return
        this.push(value)
      }
    }
    const receiving = receive().then(
      () => ended,
      (error: unknown) => error,
    )
    void receiving.then(() => {
      isOver = true
      this.#wake()
    })
    try {
      for (;;) {
        while (this.#queue.length > 0 && this.#manner !== 'held') {
          const isCut = this.#manner === 'cutClosed' || this.#manner === 'cutDropped'
          yield* this.#written(concatBytes(this.#queue.splice(0)))
          if (isCut) return
        }
        if (isOver) {
          const end = await receiving
          if (end === ended) return
          throw end
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#onEnd()
      if (!isOver) void this.#source.return?.(undefined)?.catch(() => undefined)
    }
  }

  async *#written(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    if (this.#manner === 'whole' || this.#manner === 'held') {
      yield bytes
    } else if (this.#manner === 'bytes') {
      for (let at = 0; at < bytes.length; at++) {
        yield bytes.subarray(at, at + 1)
        // Each byte in a separate turn. Inside a multi-byte character, waits long enough for the client to read its first
        // bytes separately.
        await (bytes[at]! >= 0x80 ? pause(3) : new Promise((resolve) => setImmediate(resolve)))
      }
    } else {
      yield bytes.subarray(0, Math.floor(bytes.length / 2))
      await pause(20)
      if (this.#manner === 'cutDropped') throw new DOMException('the certification suite cut the connection', 'AbortError')
    }
  }
}
