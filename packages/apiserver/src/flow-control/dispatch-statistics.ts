import type { Queue } from './queue.ts'
import { estimatedSeconds } from './seat-request.ts'

/** The last dispatch from queues: when it happened and what was due, in seat-seconds. */
export class DispatchStatistics {
  /** Progress at the dispatch; undefined until there was one. */
  r: number | undefined
  /** When the dispatched request was due. */
  latest = 0
  /** First and last of all queues in which requests waited. */
  earliest = 0
  last = 0
  /** The same, less the work that the queues have in progress. */
  discountedEarliest = 0
  discountedLast = 0

  begin(): void {
    this.earliest = Number.POSITIVE_INFINITY
    this.last = Number.NEGATIVE_INFINITY
    this.discountedEarliest = Number.POSITIVE_INFINITY
    this.discountedLast = Number.NEGATIVE_INFINITY
  }

  observe({ nextDispatchR, seatsInUse }: Queue): void {
    const discounted = nextDispatchR - seatsInUse * estimatedSeconds
    if (nextDispatchR < this.earliest) this.earliest = nextDispatchR
    if (nextDispatchR > this.last) this.last = nextDispatchR
    if (discounted < this.discountedEarliest) this.discountedEarliest = discounted
    if (discounted > this.discountedLast) this.discountedLast = discounted
  }

  dispatched(r: number, latest: number): void {
    this.r = r
    this.latest = latest
  }
}
