import { estimatedSeconds } from './seat-request.ts'

/** Statistics of the latest dispatch from queues, in seat-seconds. */
export class DispatchStatistics {
  /** Progress at the dispatch; undefined before the first. */
  r: number | undefined
  /** Progress at which the dispatched request was due. */
  latest = 0
  /** Minimum and maximum over all queues with waiting requests. */
  earliest = 0
  last = 0
  /** Minimum and maximum after subtracting the work in progress of each queue. */
  discountedEarliest = 0
  discountedLast = 0

  begin(): void {
    this.earliest = Number.POSITIVE_INFINITY
    this.last = Number.NEGATIVE_INFINITY
    this.discountedEarliest = Number.POSITIVE_INFINITY
    this.discountedLast = Number.NEGATIVE_INFINITY
  }

  observe({ nextDispatchR, seatsInUse }: { readonly nextDispatchR: number; readonly seatsInUse: number }): void {
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
