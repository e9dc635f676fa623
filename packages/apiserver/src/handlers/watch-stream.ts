import { Pace } from '@krmkit/base/work'
import { ApiError, type Status } from '@krmkit/meta'
import type { Entry, ListRequest, PendingEvent, ResourceWatch } from '@krmkit/registry'
import type { Frames } from '../encoding/frames.ts'
import { selectedName } from '../flow-control/work-estimate.ts'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { batches, type Chunks, eventBytes, eventsAtOnce, inOrder, LiveEvents, type ReadyEvents } from './live-events.ts'
import type { Wakeup } from './wakeup.ts'

/**
 * The event stream of a watch. Each event is encoded once for all watches.
 *
 *     initial state as ADDED --> changes --timeout | client gone | too slow | server closes--> end
 */

/** Parameters of one watch. */
export interface WatchTerms {
  readonly selected: Pick<ListRequest, 'labelSelector' | 'fieldSelector'>
  readonly bookmarks: boolean
  /**
   * True: the stream starts with the existing objects, followed by a bookmark. False: only changes are sent. Undefined: `resourceVersion`
   * decides whether the existing objects come first, without a bookmark.
   */
  readonly initialEvents: boolean | undefined
  /** Whether the bookmark after the existing objects is annotated as their end. */
  readonly marksInitialEnd: boolean
  /** Zero: the watch ends at once. */
  readonly timeoutMs: number
}

export interface WatchStreamRequest {
  readonly scope: RequestScope
  readonly context: RequestContext
  readonly terms: WatchTerms
  /** A Status when the watch cannot start: the stream consists of this error. */
  readonly watch: ResourceWatch | Status
}

const bookmarkEveryMs = 60_000
/** The last bookmark is sent this long before the timeout, so that the client can resume from it. */
const lastBookmarkMs = 2_000
/** How long watches outlive a change of their definition: as long as on kube-apiserver. */
const outlivingMs = 1_000

/** The stream of a watch. */
export interface WatchStream<Chunk> {
  readonly stream: AsyncGenerator<Chunk>
  /** Absent when objects must be loaded before they are encoded, as for kinds that a webhook converts. */
  readonly ready: ReadyEvents<Chunk> | undefined
}

export function watchStream<T, Chunk>(
  request: WatchStreamRequest,
  frames: Frames<T>,
  chunks: Chunks<T, Chunk>,
): WatchStream<Chunk> {
  const { scope, watch } = request
  if (!('takeInitial' in watch)) return { stream: failedStream(watch, frames, chunks), ready: undefined }
  const live = new LiveEvents(watch, { frames, chunks })
  const isAwaited = scope.definition.conversion !== undefined
  return { stream: streamOf({ ...request, watch }, { frames, chunks, live }), ready: isAwaited ? undefined : live }
}

async function* failedStream<T, Chunk>(status: Status, frames: Frames<T>, chunks: Chunks<T, Chunk>): AsyncGenerator<Chunk> {
  for (const chunk of chunks.join([frames.status(status)])) yield chunk
}

interface StartedWatch extends WatchStreamRequest {
  readonly watch: ResourceWatch
}

interface StreamParts<T, Chunk> {
  readonly frames: Frames<T>
  readonly chunks: Chunks<T, Chunk>
  readonly live: LiveEvents<T, Chunk>
}

async function* streamOf<T, Chunk>(request: StartedWatch, parts: StreamParts<T, Chunk>): AsyncGenerator<Chunk> {
  const { scope, context, terms, watch } = request
  const { frames, chunks, live } = parts
  const { wakeup } = live
  const bookmarks = new BookmarkTimer(scope, terms, () => wakeup.wake())
  const release = endings(request, wakeup)
  live.follow()
  try {
    const pace = new Pace(scope.turns)
    if (watch.hasInitial) yield* initialChunks(request, parts, pace)
    if (wakeup.stopped) return
    context.watchInitialized?.()
    if (terms.initialEvents === true && terms.bookmarks)
      for (const chunk of chunks.join([frames.bookmark(watch.startVersion, terms.marksInitialEnd)])) yield chunk
    bookmarks.schedule()
    while (!wakeup.stopped) {
      const count = yield* liveChunks(request, live, pace)
      if (bookmarks.takeDue()) for (const chunk of chunks.join([frames.bookmark(watch.resourceVersion, false)])) yield chunk
      if (count === eventsAtOnce) {
        if (pace.due(true)) await pace.next()
        continue
      }
      if (watch.ended || wakeup.retired) return
      const waiting = wakeup.wait()
      if (waiting !== undefined) await waiting
    }
  } catch (error) {
    // An object that cannot be converted ends the watch, with the error as the last event.
    if (!ApiError.is(error)) throw error
    for (const chunk of chunks.join([frames.status(error.status)])) yield chunk
  } finally {
    context.watchInitialized?.()
    watch.close()
    bookmarks.cancel()
    release()
  }
}

/*
 * A suspended generator keeps what its variables have referred to. Events and objects are therefore handled by generators that end: an idle
 * watch keeps none.
 */

/** The initial objects. Ends early when the watch is stopped. */
async function* initialChunks<T, Chunk>(
  { scope, watch }: StartedWatch,
  { frames, chunks, live }: StreamParts<T, Chunk>,
  pace: Pace,
): AsyncGenerator<Chunk> {
  for (const batch of batches(watch.takeInitial(), ({ value }) => value.byteLength)) {
    if (pace.due(true)) await pace.next()
    const loading = scope.codec.load(batch)
    if (loading !== undefined) await loading
    if (live.wakeup.stopped) return
    for (const chunk of chunks.join(await inOrder(batch, (entry) => frames.event('ADDED', entry)))) yield chunk
  }
}

/** The changes that have arrived. @returns the number of changes */
async function* liveChunks<T, Chunk>(
  { scope }: StartedWatch,
  live: LiveEvents<T, Chunk>,
  pace: Pace,
): AsyncGenerator<Chunk, number> {
  const events = live.next()
  for (const batch of batches(events, eventBytes)) {
    const loading = scope.codec.load(entriesOf(batch))
    if (loading !== undefined) await loading
    for (const chunk of await live.encode(batch)) yield chunk
    // The first batch is sent at once; only further batches wait for a slice.
    if (batch !== events && pace.due(true)) await pace.next()
  }
  return events.length
}

/**
 * Registers the timeout, client disconnection, server close and definition change, which end a watch. @returns a function that unregisters
 * them
 */
function endings({ scope, context, terms }: StartedWatch, wakeup: Wakeup): () => void {
  const stop = () => wakeup.stop()
  const cancelTimeout = scope.clock.setTimeout(stop, terms.timeoutMs)
  const unfollow = endWithDefinition(scope, () => wakeup.retire())
  const unregister = scope.watches.register({ ...context.info, name: selectedName(context.info, context.query) })
  context.signal.addEventListener('abort', stop, { once: true })
  const releaseClosing = scope.onClosing.add(stop)
  if (context.signal.aborted || terms.timeoutMs === 0) stop()
  return () => {
    unregister()
    unfollow()
    cancelTimeout()
    context.signal.removeEventListener('abort', stop)
    releaseClosing()
  }
}

/**
 * Ends a watch of custom resources `outlivingMs` after a change of the definition, in all versions. Until then, the watch shows objects by
 * the former definition.
 *
 * @returns a function that stops observing
 */
function endWithDefinition({ registry, definition, clock }: RequestScope, end: () => void): () => void {
  const edition = definition.custom?.edition
  if (edition === undefined) return () => {}
  const { group, version, resource } = definition
  let cancel: (() => void) | undefined
  const check = (): void => {
    if (cancel !== undefined || registry.resource({ group, version, resource: resource.name })?.custom?.edition === edition)
      return
    cancel = clock.setTimeout(end, outlivingMs)
  }
  const unfollow = registry.served.onChange(check)
  check()
  return () => {
    unfollow()
    cancel?.()
  }
}

/** All entries that the frames of events need. */
function* entriesOf(events: readonly PendingEvent[]): Generator<Entry> {
  for (const { entry, previous } of events) {
    if (previous !== undefined) yield previous
    yield entry
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

  /** Returns true once for each due bookmark, and schedules the next one. */
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
