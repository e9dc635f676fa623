/** An entry of a queue; `previous` and `next` belong to the queue. */
export interface QueueEntry<E> {
  readonly initialSeats: number
  readonly maxSeats: number
  /** Expected work in seat-seconds. */
  readonly work: number
  /** Progress of the queues at arrival, in seat-seconds. */
  readonly arrivalR: number
  previous: E | undefined
  next: E | undefined
}

/** A FIFO queue of requests. Exists while its requests wait or hold seats. */
export class Queue<E extends QueueEntry<E>> {
  readonly index: number
  /** Progress at which the next request is due, in seat-seconds. */
  nextDispatchR = 0
  length = 0
  executing = 0
  seatsInUse = 0
  /** Sums of the seats of the waiting requests. */
  initialSeats = 0
  maxSeats = 0
  work = 0
  head: E | undefined
  #tail: E | undefined

  constructor(index: number) {
    this.index = index
  }

  get isActive(): boolean {
    return this.length > 0 || this.executing > 0
  }

  add(request: E): void {
    request.previous = this.#tail
    if (this.#tail === undefined) this.head = request
    else this.#tail.next = request
    this.#tail = request
    this.#count(request, 1)
  }

  remove(request: E): void {
    const { previous, next } = request
    if (previous === undefined) this.head = next
    else previous.next = next
    if (next === undefined) this.#tail = previous
    else next.previous = previous
    request.previous = undefined
    request.next = undefined
    this.#count(request, -1)
  }

  *requests(): Generator<E> {
    for (let one = this.head; one !== undefined; one = one.next) yield one
  }

  /** Sets dispatch no earlier than arrival, so that an idle queue does not accumulate its share. */
  boundDispatch(): void {
    if (this.head !== undefined && this.nextDispatchR < this.head.arrivalR) this.nextDispatchR = this.head.arrivalR
  }

  #count(request: E, sign: 1 | -1): void {
    this.length += sign
    this.initialSeats += sign * request.initialSeats
    this.maxSeats += sign * request.maxSeats
    this.work = this.length === 0 ? 0 : this.work + sign * request.work
  }
}
