import { Histogram } from '../metrics/histogram.ts'

/** Reason of a rejection. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

const seconds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

/** Statistics of the requests of one flow schema in one priority level, for metrics. */
export class FlowStatistics {
  readonly schema: string
  readonly level: string
  dispatched = 0
  readonly rejected: Record<Rejection, number> = { 'queue-full': 0, 'concurrency-limit': 0, 'time-out': 0, cancelled: 0 }
  waitingRequests = 0
  waitingSeats = 0
  executingRequests = 0
  executingSeats = 0
  insufficientSeats = 0
  readonly queueLength = new Histogram([0, 10, 25, 50, 100, 250, 500, 1000])
  readonly waitToExecute = new Histogram(seconds)
  readonly waitToReject = new Histogram(seconds)
  readonly regularExecution = new Histogram(seconds)
  readonly watchExecution = new Histogram(seconds)
  readonly estimatedSeats = new Histogram([1, 2, 4, 10])
  readonly watchCount = new Histogram([0, 1, 10, 100, 1000, 10_000])

  constructor(schema: string, level: string) {
    this.schema = schema
    this.level = level
  }
}
