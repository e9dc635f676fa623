import type { RequestContext } from '../request-context.ts'
import type { FlowStatistics } from './flow-statistics.ts'
import type { Queue } from './queue.ts'
import type { FlowHash } from './shuffle-shard.ts'
import type { WorkEstimate } from './work-estimate.ts'

/** How the wait of a request in a queue ended. */
export type WaitOutcome = 'execute' | 'time-out' | 'cancelled'

/**
 * A request that takes seats of a level.
 *
 *     new --(no room)--> rejected
 *         --(seats free)--> executing --> lingering (watchers are being told) --> done
 *         --> waiting --(dispatched)--> executing
 *                     --(too long, client gone)--> rejected
 */
export class SeatRequest {
  readonly statistics: FlowStatistics
  /** Which of the flows of its schema it belongs to. */
  readonly distinguisher: string
  readonly hash: FlowHash | undefined
  readonly context: Pick<RequestContext, 'info' | 'user'>
  readonly initialSeats: number
  finalSeats: number
  /** How long seats are kept after the end, in milliseconds. */
  lingerMs: number
  queue: Queue | undefined
  arrivedAt = 0
  /** Progress of the queues when it arrived, in seat-seconds. */
  arrivalR = 0
  startedAt = 0
  executing = false
  /** It has been executing before, and gave its seats back to wait for something. */
  resumed = false
  /** Set while it waits in a queue. */
  settle: ((verdict: WaitOutcome) => void) | undefined
  previous: SeatRequest | undefined
  next: SeatRequest | undefined

  constructor(
    state: Pick<RequestContext, 'info' | 'user'>,
    flow: { readonly statistics: FlowStatistics; readonly distinguisher: string; readonly hash: FlowHash | undefined },
    work: WorkEstimate,
  ) {
    this.context = state
    this.statistics = flow.statistics
    this.distinguisher = flow.distinguisher
    this.hash = flow.hash
    this.initialSeats = work.initialSeats
    this.finalSeats = work.finalSeats
    this.lingerMs = work.lingerMs
  }

  /** Seats that it holds from its start to its very end. */
  get maxSeats(): number {
    return Math.max(this.initialSeats, this.finalSeats)
  }

  /** Expected work in seat-seconds. */
  get work(): number {
    return this.initialSeats * estimatedSeconds + (this.finalSeats * this.lingerMs) / 1000
  }
}

/** How long a request is expected to execute, in seconds. */
export const estimatedSeconds = 0.003
