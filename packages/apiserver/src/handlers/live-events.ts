import { whenDone } from '@krmkit/base/work'
import type { PendingEvent, ResourceWatch } from '@krmkit/registry'
import type { Frames } from '../encoding/frames.ts'
import { Wakeup } from './wakeup.ts'

/** How frames are joined to the chunks of a stream. */
export interface Chunks<T, Chunk> {
  /** Joins frames that are available at the same time. */
  join(frames: readonly T[]): readonly Chunk[]
  /**
   * The chunks of a batch of events of a watch without selectors: created by `make`, or shared with a watch that has taken the same batch.
   * Returns a promise when an object is large.
   */
  batch(events: readonly PendingEvent[], make: () => Made<Chunk>): Made<Chunk>
}

type Made<Chunk> = readonly Chunk[] | Promise<readonly Chunk[]>

/** The changes of a watch that can be taken without waiting. @see ReadyChunks of `@krmkit/protocol` */
export interface ReadyEvents<Chunk> {
  onReady: (() => void) | undefined
  take(): readonly Chunk[]
}

/** Maximum number of events that a watch takes at once. */
export const eventsAtOnce = 256
/** Size at which a chunk is complete, in bytes. */
const chunkBytes = 64 * 1024

const none: readonly never[] = Object.freeze([])

/**
 * The changes of a watch. They reach the client in order, by one of two ways: the stream returns them while it runs, and `take` returns
 * them while the stream waits. The stream is woken for everything else: its end, bookmarks, large batches and failures.
 *
 *     stream waits --changes--> onReady --take--> chunks
 *                                       --take: much, or a failure--> stream runs
 *     stream runs  --changes--> stream returns them before it waits
 */
export class LiveEvents<T, Chunk> implements ReadyEvents<Chunk> {
  onReady: (() => void) | undefined
  readonly wakeup = new Wakeup()
  readonly #watch: ResourceWatch
  readonly #output: { readonly frames: Frames<T>; readonly chunks: Chunks<T, Chunk> }
  /** Events that `take` has taken from the watch and left to the stream. */
  #left: readonly PendingEvent[] = none
  #failure: { readonly error: unknown } | undefined

  constructor(watch: ResourceWatch, output: { readonly frames: Frames<T>; readonly chunks: Chunks<T, Chunk> }) {
    this.#watch = watch
    this.#output = output
  }

  /** Starts observing the watch. */
  follow(): void {
    this.#watch.onReady = () => {
      if (this.onReady === undefined || this.#watch.ended || !this.wakeup.isWaiting) this.wakeup.wake()
      else this.onReady()
    }
  }

  take(): readonly Chunk[] {
    if (!this.wakeup.isWaiting) return none
    const events = this.#watch.take(eventsAtOnce)
    if (events.length === 0) return none
    if (!isSmall(events)) {
      this.#left = events
      this.wakeup.wake()
      return none
    }
    try {
      const chunks = this.encode(events)
      if ('length' in chunks) return chunks
      // A large object is among them, for whose frame the stream waits.
      this.#left = events
      this.wakeup.wake()
      return none
    } catch (error) {
      this.#failure = { error }
      this.wakeup.wake()
      return none
    }
  }

  /** The next events for the stream. @throws the error with which `take` failed to encode events */
  next(): readonly PendingEvent[] {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#left.length === 0) return this.#watch.take(eventsAtOnce)
    const left = this.#left
    this.#left = none
    return left
  }

  encode(batch: readonly PendingEvent[]): Made<Chunk> {
    const { frames, chunks } = this.#output
    const joined = (made: readonly T[]): readonly Chunk[] => (made.length === 0 ? [] : chunks.join(made))
    const make = (): Made<Chunk> =>
      whenDone(
        inOrder(batch, (event) => frameOf(this.#watch, frames, event)),
        (made) => joined(made),
      )
    return this.#watch.isSelective ? make() : chunks.batch(batch, make)
  }
}

/** Whether the events fit one chunk, and no further events are pending. */
function isSmall(events: readonly PendingEvent[]): boolean {
  if (events.length === eventsAtOnce) return false
  let bytes = 0
  for (const event of events) bytes += Math.max(eventBytes(event), event.previous?.value.byteLength ?? 0)
  return bytes < chunkBytes
}

/** Creates the frames of items one after the other. Waits only when a frame is a promise. */
export function inOrder<I, T>(items: readonly I[], make: (item: I) => T | Promise<T> | undefined): T[] | Promise<T[]> {
  const made: T[] = []
  const add = (frame: T | undefined): T[] => {
    if (frame !== undefined) made.push(frame)
    return made
  }
  return items.reduce<T[] | Promise<T[]>>((before, item) => whenDone(before, () => whenDone(make(item), add)), made)
}

export function eventBytes({ entry }: PendingEvent): number {
  return entry.value.byteLength
}

function frameOf<T>(watch: ResourceWatch, frames: Frames<T>, pending: PendingEvent): T | Promise<T> | undefined {
  const event = watch.select(pending)
  if (event === undefined) return undefined
  const { type, entry, leftAt } = event
  return leftAt === undefined ? frames.event(type, entry) : frames.left(entry, leftAt)
}

/** Splits items into batches of at most `eventsAtOnce` items and about `chunkBytes` bytes. */
export function* batches<E>(all: readonly E[], sizeOf: (each: E) => number): Generator<readonly E[]> {
  for (let from = 0; from < all.length; ) {
    let size = 0
    let to = from
    while (to < all.length && to - from < eventsAtOnce && size < chunkBytes) size += sizeOf(all[to++] as E)
    yield from === 0 && to === all.length ? all : all.slice(from, to)
    from = to
  }
}
