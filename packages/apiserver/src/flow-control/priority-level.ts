import { FairQueues, type FairQueuesOptions } from './fair-queues.ts'
import type { LevelConfiguration } from './level-configuration.ts'
import { RetryAfter } from './retry-after.ts'
import { DemandStatistics } from './seat-demand.ts'
import { maxSeatsPerRequest } from './work-estimate.ts'

/** An active priority level: its share of the seats of the server, and the queues of its requests. */
export class PriorityLevel {
  readonly name: string
  readonly queues: FairQueues
  readonly demand = new DemandStatistics()
  readonly retryAfter = new RetryAfter()
  configuration: LevelConfiguration
  /** Whether the object of the level was deleted: the level remains until its last request has finished. */
  quiescing = false
  nominalSeats = 0
  /** Minimum number of seats after lending, and maximum with borrowing. */
  lowerSeats = 0
  upperSeats = 0
  currentSeats = 0
  /** Target of the last adjustment. */
  targetSeats = 0
  /** Maximum seats of one request. */
  maxRequestSeats = maxSeatsPerRequest
  #configured = false

  constructor(configuration: LevelConfiguration, options: Omit<FairQueuesOptions, 'exempt'>) {
    this.name = configuration.name
    this.configuration = configuration
    this.queues = new FairQueues({ ...options, exempt: configuration.exempt })
  }

  /** @param shareSum shares of all levels; @param seats total seats of the server. */
  configure({ shareSum, seats }: { readonly shareSum: number; readonly seats: number }): void {
    const { shares, lendablePercent, borrowingLimitPercent, queuing } = this.configuration
    const nominal = shareSum === 0 ? 0 : Math.ceil((seats * shares) / shareSum)
    const lendable = Math.round((nominal * lendablePercent) / 100)
    const borrowable = borrowingLimitPercent === undefined ? seats : Math.round((nominal * borrowingLimitPercent) / 100)
    this.nominalSeats = nominal
    this.lowerSeats = nominal - lendable
    this.upperSeats = nominal + borrowable
    this.maxRequestSeats =
      queuing.queues === 0
        ? maxSeatsPerRequest
        : Math.min(maxSeatsPerRequest, Math.max(1, Math.min(Math.ceil(nominal * 0.15), Math.floor(nominal / queuing.handSize))))
    this.queues.demandRatio.denominator = Math.max(1, nominal)
    if (!this.#configured) this.currentSeats = nominal - Math.floor(lendable / 2)
    this.#configured = true
  }

  /** Applies the current number of seats to the queues. */
  apply(): void {
    this.queues.configure(this.configuration.queuing, this.currentSeats)
  }

  /** The claim of the level when seats are redistributed. */
  claim(): { readonly target: number; readonly lower: number; readonly upper: number } {
    const lower = Math.max(this.lowerSeats, Math.min(this.nominalSeats, this.demand.highWatermark))
    this.targetSeats = Math.max(lower, this.demand.smoothed)
    return { target: this.targetSeats, lower, upper: this.upperSeats }
  }
}
