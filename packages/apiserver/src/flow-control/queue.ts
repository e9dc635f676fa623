import type { SeatRequest } from './seat-request.ts'

/** A FIFO queue of requests. Exists while its requests wait or hold seats. */
export class Queue {
  readonly index: number
  /** Progress at which the next request is due, in seat-seconds. */
  nextDispatchR = 0
  length = 0
  executing = 0
  seatsInUse = 0
  /** Sums over the waiting requests. */
  initialSeats = 0
  maxSeats = 0
  work = 0
  head: SeatRequest | undefined
  #tail: SeatRequest | undefined

  constructor(index: number) {
    this.index = index
  }

  get isActive(): boolean {
    return this.length > 0 || this.executing > 0
  }

  add(request: SeatRequest): void {
    request.previous = this.#tail
    if (this.#tail === undefined) this.head = request
    else this.#tail.next = request
    this.#tail = request
    this.#count(request, 1)
  }

  remove(request: SeatRequest): void {
    const { previous, next } = request
    if (previous === undefined) this.head = next
    else previous.next = next
    if (next === undefined) this.#tail = previous
    else next.previous = previous
    request.previous = undefined
    request.next = undefined
    this.#count(request, -1)
  }

  *requests(): Generator<SeatRequest> {
    for (let one = this.head; one !== undefined; one = one.next) yield one
  }

  /** Sets dispatch no earlier than arrival, so that an idle queue does not accumulate its share. */
  boundDispatch(): void {
    if (this.head !== undefined && this.nextDispatchR < this.head.arrivalR) this.nextDispatchR = this.head.arrivalR
  }

  #count(request: SeatRequest, sign: 1 | -1): void {
    this.length += sign
    this.initialSeats += sign * request.initialSeats
    this.maxSeats += sign * request.maxSeats
    this.work = this.length === 0 ? 0 : this.work + sign * request.work
  }
}
