import { ApiError, type Status } from '@krmkit/meta'
import { Slices } from '@krmkit/meta/slices'
import type { Entry, ListRequest, PendingEvent, ResourceWatch } from '@krmkit/registry'
import type { Frames } from '../encoding/frames.ts'
import { selectedName } from '../flow-control/work-estimate.ts'
import type { RequestContext } from '../request-context.ts'
import type { RequestScope } from '../request-scope.ts'

/**
 * The event stream of a watch, each event encoded once for all watchers.
 *
 *     initial state as ADDED --> changes --timeout | client gone | too slow | server closes--> end
 */

/** Parameters of one watch. */
export interface WatchTerms {
  readonly selected: Pick<ListRequest, 'labelSelector' | 'fieldSelector'>
  readonly bookmarks: boolean
  /** Sends the present state first, closed by a bookmark that marks its end. */
  readonly initialEvents: boolean
  readonly timeoutMs: number
}

export interface WatchStreamRequest {
  readonly scope: RequestScope
  readonly context: RequestContext
  readonly terms: WatchTerms
  /** A Status: the watch cannot start, and the stream consists of this error. */
  readonly watch: ResourceWatch | Status
}

/** Joins the frames of one moment into the chunks that are handed on. */
type Join<T, Chunk> = (frames: readonly T[]) => Iterable<Chunk>

/** Bytes of a chunk. */
const chunkBytes = 64 * 1024
const eventsAtOnce = 256
const bookmarkEveryMs = 60_000
/** The last bookmark is sent this long before the timeout, so that the client can resume from it. */
const lastBookmarkMs = 2_000

export async function* watchStream<T, Chunk>(
  request: WatchStreamRequest,
  frames: Frames<T>,
  join: Join<T, Chunk>,
): AsyncGenerator<Chunk> {
  const { scope, context, terms, watch } = request
  if (!('initial' in watch)) {
    for (const chunk of join([frames.status(watch)])) yield chunk
    return
  }
  const wakeup = new Wakeup()
  const bookmarks = new BookmarkTimer(scope, terms, () => wakeup.wake())
  const release = endings({ scope, context, terms, watch }, wakeup)
  watch.onReady = () => wakeup.wake()
  try {
    const slices = new Slices(scope.slices)
    for (const batch of batches(watch.initial, ({ value }) => value.byteLength)) {
      if (slices.due(true)) await slices.next()
      const loading = scope.codec.load(batch)
      if (loading !== undefined) await loading
      if (wakeup.stopped) return
      for (const chunk of join(batch.map((entry) => frames.event('ADDED', entry)))) yield chunk
    }
    context.watchInitialized?.()
    if (terms.initialEvents && terms.bookmarks) for (const chunk of join([frames.bookmark(watch.startVersion, true)])) yield chunk
    bookmarks.schedule()
    while (!wakeup.stopped) {
      const events = watch.take(eventsAtOnce)
      for (const batch of batches(events, ({ entry }) => entry.value.byteLength)) {
        const loading = scope.codec.load(entriesOf(batch))
        if (loading !== undefined) await loading
        const made = batch.map((event) => frameOf(watch, frames, event)).filter((frame) => frame !== undefined)
        if (made.length > 0) for (const chunk of join(made)) yield chunk
        // Single events are sent at once; only further batches wait for their slice.
        if (batch !== events && slices.due(true)) await slices.next()
      }
      if (bookmarks.takeDue()) for (const chunk of join([frames.bookmark(watch.resourceVersion, false)])) yield chunk
      if (events.length === eventsAtOnce) {
        if (slices.due(true)) await slices.next()
        continue
      }
      if (watch.ended || wakeup.retired) return
      await wakeup.wait()
    }
  } catch (error) {
    // An object that cannot be converted ends the watch, with the reason as the last event.
    if (!ApiError.is(error)) throw error
    for (const chunk of join([frames.status(error.status)])) yield chunk
  } finally {
    context.watchInitialized?.()
    watch.close()
    bookmarks.cancel()
    release()
  }
}

/** Registers everything that ends a watch from outside. @returns a function that releases it. */
function endings({ scope, context, terms }: WatchStreamRequest, wakeup: Wakeup): () => void {
  const stop = () => wakeup.stop()
  const cancelTimeout = scope.clock.setTimeout(stop, terms.timeoutMs)
  const unfollow = endWithDefinition(scope, () => wakeup.retire())
  const unregister = scope.watches.register({ ...context.info, name: selectedName(context.info, context.query) })
  context.signal.addEventListener('abort', stop, { once: true })
  scope.closing.addEventListener('abort', stop, { once: true })
  if (context.signal.aborted || scope.closing.aborted) stop()
  return () => {
    unregister()
    unfollow()
    cancelTimeout()
    context.signal.removeEventListener('abort', stop)
    scope.closing.removeEventListener('abort', stop)
  }
}

/** A changed definition of a custom resource ends the watches of its former edition. @returns a function that stops observing. */
function endWithDefinition({ registry, definition }: RequestScope, end: () => void): () => void {
  const edition = definition.custom?.edition
  if (edition === undefined) return () => {}
  const { group, version, resource } = definition
  const check = (): void => {
    if (registry.resource({ group, version, resource: resource.name })?.custom?.edition !== edition) end()
  }
  const unfollow = registry.served.onChange(check)
  check()
  return unfollow
}

function frameOf<T>(watch: ResourceWatch, frames: Frames<T>, pending: PendingEvent): T | undefined {
  const event = watch.select(pending)
  if (event === undefined) return undefined
  const { type, entry, leftAt } = event
  return leftAt === undefined ? frames.event(type, entry) : frames.left(entry, leftAt)
}

/** Every entry that frames are made of. */
function* entriesOf(events: readonly PendingEvent[]): Generator<Entry> {
  for (const { entry, previous } of events) {
    if (previous !== undefined) yield previous
    yield entry
  }
}

/** Batches of at most `eventsAtOnce` items and about one chunk of bytes. */
function* batches<E>(all: readonly E[], sizeOf: (each: E) => number): Generator<readonly E[]> {
  for (let from = 0; from < all.length; ) {
    let size = 0
    let to = from
    while (to < all.length && to - from < eventsAtOnce && size < chunkBytes) size += sizeOf(all[to++] as E)
    yield from === 0 && to === all.length ? all : all.slice(from, to)
    from = to
  }
}

/** Schedules the bookmarks of a watch: one a minute, and a last one shortly before the timeout. */
class BookmarkTimer {
  readonly #clock: RequestScope['clock']
  readonly #terms: WatchTerms
  readonly #wake: () => void
  readonly #deadline: number
  #cancel: () => void = () => {}
  #isDue = false

  constructor({ clock }: RequestScope, terms: WatchTerms, wake: () => void) {
    this.#clock = clock
    this.#terms = terms
    this.#wake = wake
    this.#deadline = clock.now() + terms.timeoutMs
  }

  schedule(): void {
    if (!this.#terms.bookmarks) return
    const left = this.#deadline - this.#clock.now() - lastBookmarkMs
    if (left <= 0) return
    const due = () => {
      this.#isDue = true
      this.#wake()
    }
    this.#cancel = this.#clock.setTimeout(due, Math.min(left, bookmarkEveryMs))
  }

  /** Whether a bookmark is due, once; schedules the next one. */
  takeDue(): boolean {
    if (!this.#isDue) return false
    this.#isDue = false
    this.schedule()
    return true
  }

  cancel(): void {
    this.#cancel()
  }
}

/** Wakes the stream. A wake-up between `take` and `wait` is kept. */
class Wakeup {
  stopped = false
  /** Events that have arrived are still sent, and none after them. */
  retired = false
  #pending = false
  #resolve: (() => void) | undefined

  wake(): void {
    this.#pending = true
    this.#resolve?.()
    this.#resolve = undefined
  }

  stop(): void {
    this.stopped = true
    this.wake()
  }

  retire(): void {
    this.retired = true
    this.wake()
  }

  async wait(): Promise<void> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve
      })
    }
    this.#pending = false
  }
}
