import type { Socket } from 'node:net'
import type { Random } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'
import { BodyRateMonitor } from './body-rate.ts'
import type { DeflateCache } from './gzip-parts.ts'
import type { ListenLimits } from './interfaces.ts'
import { PendingConnections } from './pending-connections.ts'
import { WriteCoalescer } from './write-coalescer.ts'

/** A long-lived response: a stream, or a connection that switched protocols. */
export interface StreamTask {
  /** Resolves when the response has ended. Rejects when it failed on the side of the server. */
  run(): Promise<void>
  /** Ends the response cleanly. */
  stop(): void
}

/** State shared by all exchanges of one listener. */
export class ListenerContext {
  readonly handle: Handler
  readonly coalescer = new WriteCoalescer()
  /** Streams in progress, which shutdown ends. */
  readonly activeStreams = new Set<StreamTask>()
  /** Compressed pieces of list bodies. */
  readonly deflateCache: DeflateCache = new WeakMap()
  /** Set when shutdown begins: connections close after their current response. */
  closing = false
  /** Connections that close after the response to an invalid head: further input is ignored. */
  readonly rejected = new WeakSet<Socket>()
  /** Whether large responses are compressed. */
  readonly compresses: boolean
  readonly limits: ListenLimits
  readonly bodyRates: BodyRateMonitor
  readonly pending: PendingConnections
  readonly #goaway: { readonly chance: number; readonly random: Pick<Random, 'bytes'> } | undefined
  readonly #onError: ((error: unknown) => void) | undefined

  constructor(options: {
    readonly handle: Handler
    readonly limits: ListenLimits
    readonly compresses?: boolean
    readonly goaway: { readonly chance: number; readonly random: Pick<Random, 'bytes'> } | undefined
    readonly onError: ((error: unknown) => void) | undefined
  }) {
    this.handle = options.handle
    this.limits = options.limits
    this.compresses = options.compresses ?? true
    this.bodyRates = new BodyRateMonitor(options.limits)
    this.pending = new PendingConnections(options.limits)
    this.#goaway = options.goaway
    this.#onError = options.onError
  }

  reportError(error: unknown): void {
    this.#onError?.(error)
  }

  /** Draws whether this response sends GOAWAY. */
  shouldSendGoaway(): boolean {
    if (this.#goaway === undefined || this.#goaway.chance <= 0) return false
    const [a = 0, b = 0, c = 0, d = 0] = this.#goaway.random.bytes(4)
    return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32 < this.#goaway.chance
  }

  /** Runs a stream to its end; shutdown stops it earlier. */
  runStream(task: StreamTask): void {
    this.activeStreams.add(task)
    task.run().then(
      () => this.activeStreams.delete(task),
      (error: unknown) => {
        this.activeStreams.delete(task)
        this.reportError(error)
      },
    )
    if (this.closing) task.stop()
  }
}
