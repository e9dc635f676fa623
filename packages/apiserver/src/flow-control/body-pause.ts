import { onNextTurn } from '@krmkit/base/work'
import type { ApiRequest } from '@krmkit/protocol'
import type { RequestContext } from '../request/context.ts'
import { type BodyInterceptor, DerivedRequest } from '../request/derived-request.ts'

/** Acquired capacity, such as seats, that can be released temporarily. */
export interface Pausable {
  /** Releases the capacity. */
  pause(): void
  /**
   * Acquires capacity again.
   *
   * @returns undefined when the capacity was available at once.
   * @throws ApiError 429 when none is available.
   */
  resume(): Promise<void> | undefined
}

/** Whether reading the body of a request may wait for the client. */
export function mayWaitForBody({ method, isBodyReceived }: Pick<ApiRequest, 'method' | 'isBodyReceived'>): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && isBodyReceived !== true
}

/**
 * Pauses requests while they wait for their bodies, so that slow bodies occupy no capacity. A body that arrived together with the head
 * is read within the same turn of the event loop and causes no pause.
 */
export class BodyPauses {
  #waiting: BodyWait[] = []

  /** Makes reading the body of the request pause `pausable`. @returns undefined when reading the body cannot wait for the client. */
  attach(context: Pick<RequestContext, 'request'>, pausable: Pausable): BodyPause | undefined {
    if (!mayWaitForBody(context.request)) return undefined
    const bodyPause = new BodyPause(pausable, this)
    context.request = new DerivedRequest(context.request, { interceptor: bodyPause })
    return bodyPause
  }

  /** Calls `onTurn` at the end of this turn of the event loop. */
  add(wait: BodyWait): void {
    if (this.#waiting.push(wait) === 1) onNextTurn(this.#runWaits)
  }

  readonly #runWaits = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wait of waiting) wait.onTurn()
  }
}

/** A pending read of a body. */
interface BodyWait {
  onTurn(): void
}

/** Pauses one request while reads of its body are pending. */
export class BodyPause implements BodyInterceptor {
  readonly #pausable: Pausable
  readonly #pauses: BodyPauses
  #paused = false
  #ended = false

  constructor(pausable: Pausable, pauses: BodyPauses) {
    this.#pausable = pausable
    this.#pauses = pauses
  }

  /** Whether the capacity is currently released. */
  get isPaused(): boolean {
    return this.#paused
  }

  /** Called when the request has ended. Later reads of the body acquire no capacity. */
  end(): void {
    this.#ended = true
  }

  body(body: Promise<Uint8Array>): Promise<Uint8Array> {
    return this.#pauseDuring(body)
  }

  stream(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const pauseDuring = <T>(read: Promise<T>): Promise<T> => this.#pauseDuring(read)
    return {
      [Symbol.asyncIterator]() {
        const inner = chunks[Symbol.asyncIterator]()
        return {
          next: () => pauseDuring(inner.next()),
          return: (value?: unknown) => inner.return?.(value) ?? Promise.resolve({ done: true as const, value: undefined }),
        }
      },
    }
  }

  async #pauseDuring<T>(read: Promise<T>): Promise<T> {
    let arrived = false
    this.#pauses.add({
      onTurn: () => {
        if (!arrived) this.#pause()
      },
    })
    try {
      return await read
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
