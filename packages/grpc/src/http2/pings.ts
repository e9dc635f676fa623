/** Signs of life on a connection: a silent peer is asked for one, and its pings are answered. */
import { systemClock } from '@krmkit/meta'
import { encodeFrame, type Frame, frameFlag, frameType } from './frames.ts'

export interface PingOptions {
  /** Silence after which the peer is asked for a sign of life, and how long it has for that, in milliseconds. */
  readonly keepaliveMs: number
  readonly pingTimeoutMs: number
  /**
   * How long the answer to a ping waits, in milliseconds. After that it is sent with the next frames, or alone after five times as long. A
   * server of grpc-go measures its connections: it sends a ping with the data of every call while none is unanswered, and a window update
   * before it. Answered at once, each call wakes both sides once more.
   */
  readonly pingDelayMs: number
}

/** Answers that would be sent alone wait for so many times the delay. */
const aloneAfter = 5

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
  /** Answers to pings that were not sent yet, and since when they wait. */
  #answers: Buffer[] = []
  #sinceMs = 0
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
    if (this.#answers.length === 0) {
      this.#sinceMs = performance.now()
      const write = () => {
        for (const answer of this.#take()) this.#target.write(answer)
      }
      this.#cancelAnswer = systemClock.setTimeout(write, aloneAfter * this.#options.pingDelayMs)
    }
    this.#answers.push(pingFrame(frameFlag.ack, payload))
  }

  /** The answers to send with other frames. */
  due(): readonly Buffer[] {
    const isDue = this.#answers.length > 0 && performance.now() - this.#sinceMs >= this.#options.pingDelayMs
    return isDue ? this.#take() : []
  }

  close(): void {
    this.#cancelKeepalive?.()
    this.#cancelAnswer?.()
  }

  #take(): readonly Buffer[] {
    this.#cancelAnswer?.()
    return this.#answers.splice(0)
  }

  #watchSilence(): void {
    const { keepaliveMs, pingTimeoutMs } = this.#options
    const silentMs = performance.now() - this.#heardMs
    this.#cancelKeepalive = systemClock.setTimeout(
      () => {
        if (performance.now() - this.#heardMs < keepaliveMs) return this.#watchSilence()
        const heardMs = this.#heardMs
        this.#target.write(pingFrame(0, Buffer.alloc(8)))
        this.#cancelKeepalive = systemClock.setTimeout(() => {
          if (this.#heardMs === heardMs) this.#target.onSilent()
          else this.#watchSilence()
        }, pingTimeoutMs)
      },
      Math.max(1, keepaliveMs - silentMs),
    )
  }
}

function pingFrame(flags: number, payload: Buffer): Buffer {
  return encodeFrame({ type: frameType.ping, flags, stream: 0 }, payload)
}
