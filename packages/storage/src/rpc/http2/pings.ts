/** Signs of life on a connection: a silent peer is asked for one, and its pings are answered. */
import { systemClock } from '@krmkit/meta'
import { encodeFrame, type Frame, frameFlag, frameType } from './frames.ts'

export interface PingOptions {
  /** Silence after which the peer is asked for a sign of life, and how long it has for that, in milliseconds. */
  readonly keepaliveMs: number
  readonly pingTimeoutMs: number
  /**
   * How long the answer to a ping may wait, in milliseconds. A server of grpc-go measures its connections: it sends a ping with the data
   * of every call while none is unanswered, and a window update before it. Answered at once, each call wakes both sides once more.
   */
  readonly pingDelayMs: number
}

export interface PingTarget {
  write(frame: Buffer): void
  /** Called at most once: the peer has not answered. */
  onSilent(): void
}

export class Pings {
  readonly #options: PingOptions
  readonly #target: PingTarget
  #heardMs = performance.now()
  #cancelKeepalive: (() => void) | undefined
  /** Payloads of pings that were not answered yet. */
  #pending: Buffer[] = []
  #cancelAnswer: (() => void) | undefined

  constructor(options: PingOptions, target: PingTarget) {
    this.#options = options
    this.#target = target
    this.#watchSilence()
  }

  /** Something has arrived. */
  heard(): void {
    this.#heardMs = performance.now()
  }

  /** Receives a frame of type PING. */
  receive({ flags, payload }: Frame): void {
    if ((flags & frameFlag.ack) !== 0) return
    // The payload is a view of a larger chunk.
    this.#pending.push(Buffer.from(payload))
    this.#cancelAnswer ??= systemClock.setTimeout(() => this.#answer(), this.#options.pingDelayMs)
  }

  close(): void {
    this.#cancelKeepalive?.()
    this.#cancelAnswer?.()
  }

  #answer(): void {
    this.#cancelAnswer = undefined
    for (const payload of this.#pending.splice(0)) this.#write(frameFlag.ack, payload)
  }

  #watchSilence(): void {
    const { keepaliveMs, pingTimeoutMs } = this.#options
    const silentMs = performance.now() - this.#heardMs
    this.#cancelKeepalive = systemClock.setTimeout(
      () => {
        if (performance.now() - this.#heardMs < keepaliveMs) return this.#watchSilence()
        const heardMs = this.#heardMs
        this.#write(0, Buffer.alloc(8))
        this.#cancelKeepalive = systemClock.setTimeout(() => {
          if (this.#heardMs === heardMs) this.#target.onSilent()
          else this.#watchSilence()
        }, pingTimeoutMs)
      },
      Math.max(1, keepaliveMs - silentMs),
    )
  }

  #write(flags: number, payload: Buffer): void {
    this.#target.write(encodeFrame({ type: frameType.ping, flags, stream: 0 }, payload))
  }
}
