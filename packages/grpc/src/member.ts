import { foregroundClock } from '@krmkit/meta'
import { Connection } from './http2/connection.ts'
import type { Target } from './target.ts'

/** Keepalive settings of kube-apiserver's etcd client: dead connections are detected within 40 seconds, even without calls. */
const keepalive = { keepaliveMs: 30_000, pingTimeoutMs: 10_000, pingDelayMs: 20 }
const connectTimeoutMs = 20_000
const firstPauseMs = 100
const longestPauseMs = 3000
const pauseGrowth = 1.6

/**
 * A server with at most one connection, which is opened on demand:
 *
 *     idle --needed--> connecting --> connected --lost, or the server goes away--> idle
 *                        ^      |
 *                        pause <-- failed
 */
export class Member {
  readonly target: Target
  #connection: Connection | undefined
  /** Resolves when the attempt to connect has succeeded or failed. */
  #attempt: Promise<void> | undefined
  #pauseMs = firstPauseMs
  /** Earliest time of the next attempt, by `performance.now()`. */
  #notBeforeMs = 0
  #lastError: unknown
  #isClosed = false
  /** Ends a pause between attempts. */
  #wake: (() => void) | undefined
  /** Connections that may still have open calls. */
  readonly #open = new Set<Connection>()

  constructor(target: Target) {
    this.target = target
  }

  /** The connection in use. */
  get connection(): Connection | undefined {
    return this.#connection
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The error of the last failed connection attempt. */
  get lastError(): unknown {
    return this.#lastError
  }

  /**
   * Waits for a connection.
   *
   * @param isPatient whether to continue after a failed attempt @returns `undefined` when there is no connection until the deadline
   */
  async ready(deadlineMs: number, { isPatient }: { readonly isPatient: boolean }): Promise<Connection | undefined> {
    for (;;) {
      if (this.#connection !== undefined) return this.#connection
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0 || this.#isClosed) return undefined
      this.#attempt ??= this.#connect()
      const attempt = this.#attempt
      const isOver = await within(attempt, leftMs)
      if (!isOver || (!isPatient && this.#connection === undefined)) return this.#connection
    }
  }

  close(): void {
    this.#isClosed = true
    this.#wake?.()
    for (const connection of this.#open) connection.close()
    this.#open.clear()
  }

  async #connect(): Promise<void> {
    try {
      await this.#pause()
      if (this.#isClosed) return
      await this.#establish()
      this.#pauseMs = firstPauseMs
      this.#notBeforeMs = 0
    } catch (error) {
      this.#lastError = error
      this.#notBeforeMs = performance.now() + this.#pauseMs
      this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * pauseGrowth)
    } finally {
      this.#attempt = undefined
    }
  }

  async #establish(): Promise<void> {
    const socket = await this.target.connect(connectTimeoutMs)
    const connection = new Connection(socket, {
      ...keepalive,
      target: this.target,
      onUnusable: () => {
        this.#open.delete(connection)
        if (this.#connection === connection) this.#connection = undefined
      },
    })
    this.#open.add(connection)
    if (!(await within(connection.handshake(), connectTimeoutMs))) connection.close()
    if (this.#isClosed) connection.close()
    if (!connection.isUsable) throw new Error('the server did not begin to speak HTTP/2')
    this.#connection = connection
  }

  async #pause(): Promise<void> {
    const leftMs = this.#notBeforeMs - performance.now()
    if (leftMs <= 0) return
    await new Promise<void>((resolve) => {
      const cancel = foregroundClock.setTimeout(resolve, leftMs)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = undefined
  }
}

/** Whether a promise resolves in time. @throws the error with which it rejects */
async function within(promise: Promise<void>, milliseconds: number): Promise<boolean> {
  let cancel: (() => void) | undefined
  const timeout = new Promise<boolean>((resolve) => {
    cancel = foregroundClock.setTimeout(() => resolve(false), milliseconds)
  })
  try {
    return await Promise.race([promise.then(() => true), timeout])
  } finally {
    cancel?.()
  }
}
