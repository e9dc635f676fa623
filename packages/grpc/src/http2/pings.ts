/** Keepalive of a connection: pings a silent peer, and answers the pings of the peer. */
import { systemClock } from '@krmkit/meta'
import { encodeFrame, type Frame, frameFlag, frameType } from './frames.ts'

export interface PingOptions {
  /** Time without input after which the peer is pinged, and the time limit for its answer, in milliseconds. */
  readonly keepaliveMs: number
  readonly pingTimeoutMs: number
  /**
   * Delay of the answer to a ping, in milliseconds. After the delay, the answer is sent with the next frames, or by itself after five times
   * the delay. Servers based on grpc-go estimate the bandwidth: they send a ping with the data of every call unless a ping is unanswered.
   * Immediate answers would wake both sides once more for each call.
   */
  readonly pingDelayMs: number
}

/** An answer is sent by itself after this many times the delay. */
const aloneAfter = 5

export interface PingTarget {
  write(frame: Buffer): void
  /** Called at most once, when the peer has not answered in time. */
  onSilent(): void
}

export class Pings {
  readonly #options: PingOptions
  readonly #target: PingTarget
  #heardMs = performance.now()
  #cancelKeepalive: (() => void) | undefined
  /** Answers to pings that are not sent yet, and the time since which they wait. */
  #answers: Buffer[] = []
  #sinceMs = 0
  #cancelAnswer: (() => void) | undefined

  constructor(options: PingOptions, target: PingTarget) {
    this.#options = options
    this.#target = target
    this.#watchSilence()
  }

  /** Called when input has arrived. */
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

  /** Removes and returns the answers that are due to be sent with other frames. */
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
