import { TimedHistogram } from '../metrics/histogram.ts'
import { DispatchStatistics } from './dispatch-statistics.ts'
import { LingeringSeats } from './lingering-seats.ts'
import { Queue } from './queue.ts'
import { SeatDemand } from './seat-demand.ts'
import { estimatedSeconds, type SeatRequest, type WaitOutcome } from './seat-request.ts'
import { deal } from './shuffle-shard.ts'

/** Queue configuration of a level. `queues` 0: requests are rejected instead of queued. */
export interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

export interface FairQueuesOptions {
  /** Monotonic time in milliseconds. */
  readonly now: () => number
  /** Schedules a callback. Returns a function that cancels it. */
  readonly setTimeout: (fn: () => void, ms: number) => () => void
  /** Whether the level is exempt from limits. */
  readonly exempt: boolean
}

/** Number of queues above which unused ones are deleted. */
const maxIdleQueues = 128

export const noQueues: Queuing = { queues: 0, handSize: 0, queueLengthLimit: 0 }

const requestRatioBounds = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1]
const seatRatioBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]
const demandRatioBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6]

/**
 * The seats of one priority level and its queues.
 *
 * Progress `R` counts the seat-seconds given to each active queue. The queue whose oldest request would finish first, at
 * `nextDispatchR + work`, is served next, so that flows share seats evenly regardless of the number and size of their requests. A
 * request is expected to take 3 ms; when it finishes, its queue is charged for the actual time.
 *
 * @see Kubernetes enhancement 1040, "Priority and Fairness for API Server Requests"
 */
export class FairQueues {
  readonly #options: FairQueuesOptions
  readonly #queues = new Map<number, Queue<SeatRequest>>()
  /** Queues with waiting requests. */
  readonly #waiting = new Set<Queue<SeatRequest>>()
  #queuing: Queuing = noQueues
  #hand: number[] = []
  #limit = 0
  #r = 0
  #syncedAt: number
  #activeQueues = 0
  #lastServedIndex = -1
  #enqueues = 0
  readonly #lingering: LingeringSeats
  readonly #executing = new Set<SeatRequest>()
  readonly demand: SeatDemand
  readonly demandRatio: TimedHistogram
  readonly waitingRatio: TimedHistogram
  readonly executingRatio: TimedHistogram
  readonly seatRatio: TimedHistogram
  requestsWaiting = 0
  seatsWaiting = 0
  requestsExecuting = 0
  seatsInUse = 0
  dispatched = 0
  rejected = 0
  timedOut = 0
  cancelled = 0
  readonly dispatch = new DispatchStatistics()

  constructor(options: FairQueuesOptions) {
    this.#options = options
    const now = options.now()
    this.#syncedAt = now
    this.#lingering = new LingeringSeats({ ...options, release: (requests) => this.#endLinger(requests) })
    this.demand = new SeatDemand(now)
    this.demandRatio = new TimedHistogram(demandRatioBounds, now)
    this.waitingRatio = new TimedHistogram(requestRatioBounds, now)
    this.executingRatio = new TimedHistogram(requestRatioBounds, now)
    this.seatRatio = new TimedHistogram(seatRatioBounds, now)
  }

  /** Takes effect at once: waiting requests start within a raised limit. Queues above a lowered number drain. */
  configure(queuing: Queuing, limit: number): void {
    const now = this.#sync()
    this.#queuing = queuing
    this.#hand = new Array<number>(queuing.handSize).fill(0)
    for (const queue of this.#queues.values()) this.#dropUnused(queue)
    this.#limit = limit
    this.#observe(now)
    this.waitingRatio.denominator = Math.max(1, queuing.queueLengthLimit) * Math.max(1, queuing.queues)
    this.executingRatio.denominator = Math.max(1, limit)
    this.seatRatio.denominator = Math.max(1, limit)
    this.#dispatchAll(now)
  }

  get limit(): number {
    return this.#limit
  }

  get queuing(): Queuing {
    return this.#queuing
  }

  get isIdle(): boolean {
    return this.requestsWaiting === 0 && this.requestsExecuting === 0
  }

  /** Progress, in seat-seconds. */
  get r(): number {
    return this.#r
  }

  /** Admits a request: it executes, waits in a queue, or is rejected. */
  start(request: SeatRequest): 'executing' | 'waiting' | 'rejected' {
    const now = this.#sync()
    request.arrivedAt = now
    request.arrivalR = this.#r
    if (this.#queuing.queues === 0 || request.hash === undefined) return this.#startWithoutQueue(request, now)
    const index = this.#chooseQueue(request)
    const existing = this.#queues.get(index)
    if (this.seatsInUse >= this.#limit && (existing?.length ?? 0) >= this.#queuing.queueLengthLimit) {
      this.rejected++
      request.statistics.rejected['queue-full']++
      return 'rejected'
    }
    const queue = existing ?? this.#createQueue(index)
    if (!queue.isActive) {
      queue.nextDispatchR = this.#r
      this.#activeQueues++
    }
    request.queue = queue
    const { statistics } = request
    statistics.queueLength.observe(queue.length + 1)
    // No request waits, so this one would be dispatched next.
    if (this.requestsWaiting === 0 && this.#accommodates(request.maxSeats)) {
      this.dispatch.begin()
      this.dispatch.observe(queue)
      this.dispatch.dispatched(this.#r, queue.nextDispatchR)
      this.#reshape(request)
      this.#lastServedIndex = queue.index
      this.#execute(request, now)
      this.#observe(now)
      return 'executing'
    }
    queue.add(request)
    queue.boundDispatch()
    this.#waiting.add(queue)
    this.#countWaiting(request, 1)
    this.#dispatchAll(now)
    if (request.executing) return 'executing'
    this.#observe(now)
    return 'waiting'
  }

  /**
   * Ends the execution of a request.
   *
   * @param linger false for a pause: the seats are released at once
   * @returns the execution time in milliseconds.
   */
  finish(request: SeatRequest, linger = true): number {
    const now = this.#sync()
    const ms = now - request.startedAt
    const { queue, statistics } = request
    request.executing = false
    this.#executing.delete(request)
    this.requestsExecuting--
    statistics.executingRequests--
    if (queue !== undefined) {
      queue.executing--
      if (!queue.isActive) this.#activeQueues--
      queue.nextDispatchR -= request.initialSeats * (estimatedSeconds - ms / 1000)
      queue.boundDispatch()
    }
    if (linger && request.lingerMs > 0) this.#lingering.add(request, now)
    else this.#release(request)
    this.#dispatchAll(now)
    this.#observe(now)
    return ms
  }

  /** Removes a waiting request from its queue. */
  withdraw(request: SeatRequest, outcome: Exclude<WaitOutcome, 'execute'>): void {
    const { queue, settle } = request
    if (queue === undefined || settle === undefined) return
    const now = this.#sync()
    this.#leaveQueue(request, queue)
    if (!queue.isActive) {
      this.#activeQueues--
      this.#dropUnused(queue)
    }
    queue.boundDispatch()
    this.rejected++
    if (outcome === 'time-out') this.timedOut++
    else this.cancelled++
    request.statistics.rejected[outcome]++
    request.settle = undefined
    settle(outcome)
    // The withdrawn request may have blocked requests with fewer seats.
    this.#dispatchAll(now)
    this.#observe(now)
  }

  /** Existing queues, by index. */
  queues(): readonly Queue<SeatRequest>[] {
    return [...this.#queues.values()].sort((a, b) => a.index - b.index)
  }

  /** Executing requests, in the order of their start. */
  executing(): Iterable<SeatRequest> {
    return this.#executing
  }

  /** Accounts for the time up to now in time-weighted statistics. */
  advance(): void {
    this.#observe(this.#sync())
  }

  #startWithoutQueue(request: SeatRequest, now: number): 'executing' | 'rejected' {
    if (!this.#accommodates(request.maxSeats)) {
      this.rejected++
      request.statistics.rejected['concurrency-limit']++
      return 'rejected'
    }
    request.queue = undefined
    this.#execute(request, now)
    this.#observe(now)
    return 'executing'
  }

  /**
   * The queue with the least waiting work among those in the hand of the flow. The start of the search rotates, so that ties favour no
   * queue.
   */
  #chooseQueue({ hash }: SeatRequest): number {
    const hand = this.#hand
    deal(hash as NonNullable<SeatRequest['hash']>, this.#queuing.queues, hand)
    const offset = this.#enqueues++ % hand.length
    let best = 0
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < hand.length; i++) {
      const index = hand[(offset + i) % hand.length] as number
      const work = this.requestsWaiting === 0 ? 0 : (this.#queues.get(index)?.work ?? 0)
      if (work < least) {
        least = work
        best = index
      }
    }
    return best
  }

  #createQueue(index: number): Queue<SeatRequest> {
    const queue = new Queue<SeatRequest>(index)
    this.#queues.set(index, queue)
    return queue
  }

  #dropUnused(queue: Queue<SeatRequest>): void {
    if (queue.isActive || queue.seatsInUse > 0) return
    if (this.#queues.size > maxIdleQueues || queue.index >= this.#queuing.queues) this.#queues.delete(queue.index)
  }

  #execute(request: SeatRequest, now: number): void {
    const { statistics, queue } = request
    const seats = request.maxSeats
    request.executing = true
    request.startedAt = now
    this.#executing.add(request)
    this.requestsExecuting++
    this.seatsInUse += seats
    statistics.executingRequests++
    statistics.executingSeats += seats
    if (!request.resumed) {
      this.dispatched++
      statistics.dispatched++
    }
    if (queue === undefined) return
    statistics.waitToExecute.observe((now - request.arrivedAt) / 1000)
    queue.executing++
    queue.seatsInUse += seats
    queue.nextDispatchR += request.work
  }

  #dispatchAll(now: number): void {
    while (this.requestsWaiting > 0 && this.seatsInUse < this.#limit && this.#dispatchOne(now));
  }

  #dispatchOne(now: number): boolean {
    const queue = this.#nextQueue()
    const request = queue?.head
    if (queue === undefined || request === undefined) return false
    if (!this.#accommodates(request.maxSeats)) {
      request.statistics.insufficientSeats++
      return false
    }
    this.#lastServedIndex = queue.index
    this.#leaveQueue(request, queue)
    this.#reshape(request)
    this.#execute(request, now)
    queue.boundDispatch()
    const { settle } = request
    request.settle = undefined
    settle?.('execute')
    return true
  }

  /** The queue whose oldest request would finish first; ties go to the next queue after the one served last. */
  #nextQueue(): Queue<SeatRequest> | undefined {
    let best: Queue<SeatRequest> | undefined
    let bestEnd = Number.POSITIVE_INFINITY
    let bestDistance = Number.POSITIVE_INFINITY
    this.dispatch.begin()
    const queueCount = Math.max(this.#queuing.queues, 1)
    for (const queue of this.#waiting) {
      this.dispatch.observe(queue)
      const end = queue.nextDispatchR + (queue.head?.work ?? 0)
      const distance =
        queue.index > this.#lastServedIndex
          ? queue.index - this.#lastServedIndex
          : queue.index - this.#lastServedIndex + queueCount
      if (end > bestEnd || (end === bestEnd && distance >= bestDistance)) continue
      best = queue
      bestEnd = end
      bestDistance = distance
    }
    if (best !== undefined) this.dispatch.dispatched(this.#r, best.nextDispatchR)
    return best
  }

  #leaveQueue(request: SeatRequest, queue: Queue<SeatRequest>): void {
    queue.remove(request)
    if (queue.length === 0) this.#waiting.delete(queue)
    this.#countWaiting(request, -1)
  }

  #countWaiting(request: SeatRequest, sign: 1 | -1): void {
    const seats = sign * request.maxSeats
    this.requestsWaiting += sign
    this.seatsWaiting += seats
    request.statistics.waitingRequests += sign
    request.statistics.waitingSeats += seats
  }

  /** Whether a request with this many seats can start. A request with more seats than the limit starts when nothing else executes. */
  #accommodates(seats: number): boolean {
    if (this.#options.exempt) return true
    return seats > this.#limit ? this.requestsExecuting === 0 : this.seatsInUse + seats <= this.#limit
  }

  /** Limits the final seats to the level's seats and prolongs the lingering, so that the work stays the same. */
  #reshape(request: SeatRequest): void {
    if (request.finalSeats <= this.#limit || this.#limit < 1) return
    request.lingerMs *= request.finalSeats / this.#limit
    request.finalSeats = this.#limit
  }

  #endLinger(requests: readonly SeatRequest[]): void {
    const now = this.#sync()
    for (const request of requests) this.#release(request)
    this.#dispatchAll(now)
    this.#observe(now)
  }

  #release(request: SeatRequest): void {
    const { queue, statistics } = request
    const seats = request.maxSeats
    this.seatsInUse -= seats
    statistics.executingSeats -= seats
    if (queue === undefined) return
    queue.seatsInUse -= seats
    this.#dropUnused(queue)
  }

  /** Advances progress to now. Called before every change of state. */
  #sync(): number {
    const now = this.#options.now()
    const ms = now - this.#syncedAt
    if (ms <= 0) return this.#syncedAt
    this.#syncedAt = now
    if (this.#activeQueues > 0) {
      const seats = Math.min(this.seatsInUse + this.seatsWaiting, this.#limit)
      this.#r += ((seats / this.#activeQueues) * ms) / 1000
    }
    return now
  }

  #observe(now: number): void {
    const demand = this.seatsInUse + this.seatsWaiting
    this.demand.set(demand, now)
    this.demandRatio.set(demand, now)
    this.waitingRatio.set(this.requestsWaiting, now)
    this.executingRatio.set(this.requestsExecuting, now)
    this.seatRatio.set(this.seatsInUse, now)
  }
}
