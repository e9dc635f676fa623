import { type BodyInterceptor, DerivedRequest } from '../derived-request.ts'
import type { RequestContext } from '../request-context.ts'

/** A place among the requests that are served. */
export interface Pausable {
  /** Gives the place back for a while. */
  pause(): void
  /**
   * Takes a place again.
   *
   * @returns undefined when there was one at once.
   * @throws ApiError 429 when there is none.
   */
  resume(): Promise<void> | undefined
}

/** Whether requests of a method can carry a body. */
export function mayHaveBody(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}

/**
 * Lets requests give their places back while they wait for their bodies, so that slow bodies do not delay other requests. A body that has
 * arrived with its head is read before the event loop turns, and costs no pause.
 */
export class BodyPauses {
  #waiting: BodyWait[] = []

  /** From now on, reading the body of the request pauses its place. @returns undefined where there is no body. */
  attach(state: Pick<RequestContext, 'request'>, place: Pausable): BodyPause | undefined {
    if (!mayHaveBody(state.request.method)) return undefined
    const pausable = new BodyPause(place, this)
    state.request = new DerivedRequest(state.request, { bodyReader: pausable })
    return pausable
  }

  /** Calls `pause` at the end of this turn of the event loop, unless the wait is over by then. */
  add(wait: BodyWait): void {
    if (this.#waiting.push(wait) === 1) setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wait of waiting) wait.onTurn()
  }
}

/** A wait for bytes of a body. */
interface BodyWait {
  onTurn(): void
}

export class BodyPause implements BodyInterceptor {
  readonly #pausable: Pausable
  readonly #pauses: BodyPauses
  #paused = false
  #ended = false

  constructor(place: Pausable, pauses: BodyPauses) {
    this.#pausable = place
    this.#pauses = pauses
  }

  /** Whether the request has no place at the moment. */
  get isPaused(): boolean {
    return this.#paused
  }

  /** The request is over: whatever its body does, it takes no place any more. */
  end(): void {
    this.#ended = true
  }

  body(read: Promise<Uint8Array>): Promise<Uint8Array> {
    return this.#during(read)
  }

  stream(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const during = <T>(arrival: Promise<T>): Promise<T> => this.#during(arrival)
    return {
      [Symbol.asyncIterator]() {
        const inner = pieces[Symbol.asyncIterator]()
        return {
          next: () => during(inner.next()),
          return: (value?: unknown) => inner.return?.(value) ?? Promise.resolve({ done: true as const, value: undefined }),
        }
      },
    }
  }

  async #during<T>(arrival: Promise<T>): Promise<T> {
    let arrived = false
    this.#pauses.add({
      onTurn: () => {
        if (!arrived) this.#pause()
      },
    })
    try {
      return await arrival
    } finally {
      arrived = true
      const resumed = this.#resume()
      if (resumed !== undefined) await resumed
    }
  }

  #pause(): void {
    if (this.#paused || this.#ended) return
    this.#paused = true
    this.#pausable.pause()
  }

  #resume(): Promise<void> | undefined {
    if (!this.#paused || this.#ended) return undefined
    const resuming = this.#pausable.resume()
    if (resuming === undefined) {
      this.#paused = false
      return undefined
    }
    return resuming.then(() => {
      if (this.#ended) this.#pausable.pause()
      else this.#paused = false
    })
  }
}
