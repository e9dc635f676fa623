import type { RequestContext } from '../request/context.ts'
import type { FlowStatistics } from './flow-statistics.ts'
import type { Queue, QueueEntry } from './queue.ts'
import type { FlowHash } from './shuffle-shard.ts'
import type { WorkEstimate } from './work-estimate.ts'

/** Outcome of waiting in a queue. */
export type WaitOutcome = 'execute' | 'time-out' | 'cancelled'

/**
 * A request for seats of a level.
 *
 *     new --(queue full)--> rejected
 *         --(seats free)--> executing --> lingering (watchers are notified) --> done
 *         --> waiting --(dispatched)--> executing
 *                     --(timeout, client disconnected)--> rejected
 */
export class SeatRequest implements QueueEntry<SeatRequest> {
  readonly statistics: FlowStatistics
  /** Identifies the flow within its schema. */
  readonly distinguisher: string
  readonly hash: FlowHash | undefined
  readonly context: Pick<RequestContext, 'info' | 'user'>
  readonly initialSeats: number
  finalSeats: number
  /** How long the final seats are held after execution, in milliseconds. */
  lingerMs: number
  queue: Queue<SeatRequest> | undefined
  arrivedAt = 0
  /** Progress of the queues at arrival, in seat-seconds. */
  arrivalR = 0
  startedAt = 0
  executing = false
  /** Whether the request has executed before and was paused. */
  resumed = false
  /** Ends the wait; set while the request is queued. */
  settle: ((outcome: WaitOutcome) => void) | undefined
  previous: SeatRequest | undefined
  next: SeatRequest | undefined

  constructor(
    context: Pick<RequestContext, 'info' | 'user'>,
    flow: { readonly statistics: FlowStatistics; readonly distinguisher: string; readonly hash: FlowHash | undefined },
    work: WorkEstimate,
  ) {
    this.context = context
    this.statistics = flow.statistics
    this.distinguisher = flow.distinguisher
    this.hash = flow.hash
    this.initialSeats = work.initialSeats
    this.finalSeats = work.finalSeats
    this.lingerMs = work.lingerMs
  }

  /** Seats held from start to end of lingering. */
  get maxSeats(): number {
    return Math.max(this.initialSeats, this.finalSeats)
  }

  /** Expected work in seat-seconds. */
  get work(): number {
    return this.initialSeats * estimatedSeconds + (this.finalSeats * this.lingerMs) / 1000
  }
}

/** Expected execution time of a request in seconds. */
export const estimatedSeconds = 0.003
