import { ApiError, Slices, type Status } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { collectionPrefix, isStorableName, listEntries, objectKey, parseResourceVersion, selects } from '@krmkit/registry'
import { type Entry, type Revision, StorageError, type StorageEvent, type Watcher } from '@krmkit/storage'
import { nameOf } from '../flow-control/work-estimate.ts'
import { mediaType } from '../negotiation.ts'
import { flag, integer, text } from '../query.ts'
import { negotiated, type ResourceRequest } from '../resource-handler.ts'
import { includeObject } from '../table.ts'
import { type Frames, framesFor, sharedEventsFor } from '../watch-frames.ts'
import { selectors } from './read.ts'

/**
 * WATCH: the changes of a collection as a stream, each event encoded once however many watchers there are.
 *
 *     start --(unset or 0: the present as ADDED)--> changes --timeout | client gone | too slow | server closes--> end
 *
 * @see API protocol specification, 2.4 and 4.2
 */
export async function watchObjects(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state } = request
  const plan = readPlan(request)
  // Whoever streams a list wants objects: from rows of Tables it could not tell where the list ends.
  const isStreamedList = plan.initialEvents && plan.bookmarks
  const representation = negotiated(request, {
    encodings: ['json', 'protobuf'],
    transforms: isStreamedList ? ['PartialObjectMetadata'] : ['Table', 'PartialObjectMetadata'],
    stream: true,
  })
  const include = representation.transform?.as === 'Table' ? includeObject(state.query) : 'Metadata'
  const contentType =
    representation.encoding === 'json' ? 'application/json' : `${mediaType('protobuf', machinery.responder.vendor)};stream=watch`
  const start = await begin(request, plan)
  if (start.initial.length === 0) state.watchInitialized?.()
  return {
    status: 200,
    headers: { 'cache-control': 'no-cache, private', 'content-type': contentType },
    body: {
      kind: 'stream',
      stream: stream(request, plan, start, framesFor(request, representation, include), pieces),
      get events() {
        return stream(request, plan, start, sharedEventsFor(request, representation, include), (batch) => [batch])
      },
    },
  }
}

interface WatchPlan {
  readonly prefix: string
  readonly from: Revision | undefined
  readonly selected: ReturnType<typeof selectors>
  readonly bookmarks: boolean
  /** Present state first, closed by a bookmark that says so. */
  readonly initialEvents: boolean
  readonly timeoutMs: number
}

/** @throws ApiError 400 before anything is streamed. */
function readPlan(request: ResourceRequest): WatchPlan {
  const { machinery, state, definition } = request
  const { query, info } = state
  const { random } = machinery.writer.environment
  const selected = selectors(request)
  const initialEvents = query.has('sendInitialEvents') && flag(query, 'sendInitialEvents')
  const match = text(query, 'resourceVersionMatch') ?? ''
  if (initialEvents && match !== 'NotOlderThan') {
    throw ApiError.badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  }
  if (!query.has('sendInitialEvents') && match !== '')
    throw ApiError.badRequest('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')
  if (info.name !== '') {
    const named = selected.fieldSelector?.exactMatch('metadata.name')
    if (named !== undefined && named !== info.name)
      throw ApiError.badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  const seconds = integer(query, 'timeoutSeconds')
  const shortest = machinery.limits.watchMs
  const jitter = ((random.bytes(1)[0] ?? 0) / 256) * shortest
  const version = parseResourceVersion(text(query, 'resourceVersion'))
  return {
    prefix: watchedKey(definition, info.namespace, info.name, selected),
    from: version === 0 || initialEvents ? undefined : version,
    selected,
    bookmarks: flag(query, 'allowWatchBookmarks'),
    initialEvents,
    timeoutMs: seconds === undefined || seconds <= 0 ? shortest + jitter : Math.min(seconds * 1000, 2 ** 31 - 1),
  }
}

/** The narrowest prefix that holds everything asked for: one key when the name is fixed. */
function watchedKey(
  definition: ResourceRequest['definition'],
  namespace: string,
  name: string,
  selected: ReturnType<typeof selectors>,
): string {
  const prefix = collectionPrefix(definition, definition.kind.namespaced ? namespace : '')
  const fixed = name !== '' ? name : selected.fieldSelector?.exactMatch('metadata.name')
  const single = fixed !== undefined && isStorableName(fixed) && (!definition.kind.namespaced || namespace !== '')
  return single ? objectKey(definition, definition.kind.namespaced ? namespace : '', fixed) : prefix
}

interface Start {
  readonly watcher: Watcher | undefined
  /** State to send first, as ADDED. */
  readonly initial: readonly Entry[]
  readonly revision: Revision
}

/** Reads the present state where it is asked for, and subscribes from exactly there. `watcher` is missing when the version is gone. */
async function begin(request: ResourceRequest, plan: WatchPlan): Promise<Start> {
  const { machinery, state, definition } = request
  const { environment } = machinery.writer
  const { storage } = environment
  if (plan.from === undefined) {
    if (!plan.prefix.endsWith('/')) {
      const revision = storage.revision
      const entry = storage.peek(plan.prefix)
      if (entry !== undefined) await request.view.load([entry])
      return {
        watcher: storage.watch({ prefix: plan.prefix, from: revision }),
        initial: entry !== undefined && isSelected(request, plan, entry) ? [entry] : [],
        revision,
      }
    }
    const listed = await listEntries(
      machinery.writer,
      definition,
      { namespace: definition.kind.namespaced ? state.info.namespace : '', ...plan.selected },
      state.signal,
    )
    return {
      watcher: storage.watch({ prefix: plan.prefix, from: listed.revision }),
      initial: listed.entries,
      revision: listed.revision,
    }
  }
  try {
    return { watcher: storage.watch({ prefix: plan.prefix, from: plan.from }), initial: [], revision: plan.from }
  } catch (error) {
    if (error instanceof StorageError && error.code === 'Compacted')
      return { watcher: undefined, initial: [], revision: plan.from }
    throw error
  }
}

function isSelected({ machinery, definition }: ResourceRequest, { selected }: WatchPlan, entry: Entry): boolean {
  return selects(machinery.parsed, definition, selected, entry)
}

/** Bytes that are collected into one piece of the stream. */
const pieceBytes = 64 * 1024
const eventsAtOnce = 256
const bookmarkEveryMs = 60_000
/** A last bookmark goes out this long before the end, so that the client can go on from there. */
const lastBookmarkMs = 2_000

/** `packed` makes of the frames of a moment what is handed on. */
async function* stream<T, Pack>(
  request: ResourceRequest,
  plan: WatchPlan,
  start: Start,
  frames: Frames<T>,
  packed: (frames: readonly T[]) => Iterable<Pack>,
): AsyncGenerator<Pack> {
  const { machinery, state } = request
  const { clock } = machinery.writer.environment
  const { watcher } = start
  if (watcher === undefined) {
    for (const pack of packed([frames.status(goneStatus(request, start))])) yield pack
    return
  }
  const waker = new Waker()
  const stop = () => waker.stop()
  state.signal.addEventListener('abort', stop, { once: true })
  machinery.closing.addEventListener('abort', stop, { once: true })
  const cancelTimeout = clock.setTimeout(stop, plan.timeoutMs)
  const deadline = clock.now() + plan.timeoutMs
  let cancelBookmark: () => void = () => {}
  let bookmarkDue = false
  const scheduleBookmark = (): void => {
    if (!plan.bookmarks) return
    const left = deadline - clock.now() - lastBookmarkMs
    if (left <= 0) return
    cancelBookmark = clock.setTimeout(
      () => {
        bookmarkDue = true
        waker.wake()
      },
      Math.min(left, bookmarkEveryMs),
    )
  }
  const unfollow = endWithDefinition(request, () => waker.retire())
  const uncount = machinery.watches.register({ ...state.info, name: nameOf(state.info, state.query) })
  watcher.onReady = () => waker.wake()
  if (state.signal.aborted || machinery.closing.aborted) stop()
  try {
    const slices = new Slices(machinery.writer.slices)
    for (const batch of batches(start.initial, ({ value }) => value.byteLength)) {
      if (slices.due(true)) await slices.next()
      const loading = request.view.load(batch)
      if (loading !== undefined) await loading
      if (waker.stopped) return
      for (const pack of packed(batch.map((entry) => frames.event('ADDED', entry)))) yield pack
    }
    state.watchInitialized?.()
    if (plan.initialEvents && plan.bookmarks) for (const pack of packed([frames.bookmark(start.revision, true)])) yield pack
    scheduleBookmark()
    while (!waker.stopped) {
      const events = watcher.take(eventsAtOnce)
      for (const batch of batches(events, ({ entry }) => entry.value.byteLength)) {
        const loading = request.view.load(entriesOf(batch))
        if (loading !== undefined) await loading
        const made = batch.map((event) => frameOf(request, plan, frames, event)).filter((frame) => frame !== undefined)
        if (made.length > 0) for (const pack of packed(made)) yield pack
        // What comes now and then is sent at once; only more of the same waits for its turn.
        if (batch !== events && slices.due(true)) await slices.next()
      }
      if (bookmarkDue) {
        bookmarkDue = false
        for (const pack of packed([frames.bookmark(watcher.revision, false)])) yield pack
        scheduleBookmark()
      }
      if (events.length === eventsAtOnce && (await afterOthers(slices))) continue
      if (watcher.ended !== undefined || waker.retired) return
      await waker.wait()
    }
  } catch (error) {
    // What cannot be shown ends the watch, with the reason as its last event.
    if (!ApiError.is(error)) throw error
    for (const pack of packed([frames.status(error.status)])) yield pack
  } finally {
    state.watchInitialized?.()
    watcher.close()
    uncount()
    unfollow()
    cancelTimeout()
    cancelBookmark()
    state.signal.removeEventListener('abort', stop)
    machinery.closing.removeEventListener('abort', stop)
  }
}

/** The history of a watch from this revision is gone. */
function goneStatus({ machinery }: ResourceRequest, { revision }: Start): Status {
  const { status } = ApiError.expired('The resourceVersion for the provided watch is too old.')
  return { ...status, message: `too old resource version: ${revision} (${machinery.writer.environment.storage.compacted})` }
}

/** Goes on, in another slice when this one has used its time. */
async function afterOthers(slices: Slices): Promise<true> {
  if (slices.due(true)) await slices.next()
  return true
}

/** What is worked on in one step: at most as many as are taken at once, and not much more than a piece holds. */
function* batches<E>(all: readonly E[], sizeOf: (each: E) => number): Generator<readonly E[]> {
  for (let from = 0; from < all.length; ) {
    let size = 0
    let to = from
    while (to < all.length && to - from < eventsAtOnce && size < pieceBytes) size += sizeOf(all[to++] as E)
    yield from === 0 && to === all.length ? all : all.slice(from, to)
    from = to
  }
}

/** A changed definition of a custom resource ends the watches of what it defined before, as on a stock server. @returns what ends that. */
function endWithDefinition({ machinery, definition }: ResourceRequest, end: () => void): () => void {
  const edition = definition.custom?.edition
  if (edition === undefined) return () => {}
  const { group, version, resource } = definition
  const look = (): void => {
    if (machinery.resource({ group, version, resource: resource.name })?.custom?.edition !== edition) end()
  }
  const unfollow = machinery.onChange(look)
  look()
  return unfollow
}

/** Everything that frames may be made of. */
function* entriesOf(events: readonly StorageEvent[]): Generator<Entry> {
  for (const { entry, previous } of events) {
    if (previous !== undefined) yield previous
    yield entry
  }
}

/** An event as this watcher sees it: objects enter, stay in and leave a selection. */
function frameOf<T>(request: ResourceRequest, plan: WatchPlan, frames: Frames<T>, event: StorageEvent): T | undefined {
  const selective = plan.selected.labelSelector !== undefined || plan.selected.fieldSelector !== undefined
  if (!selective) {
    if (event.type === 'delete') return frames.event('DELETED', event.entry)
    return frames.event(event.previous === undefined ? 'ADDED' : 'MODIFIED', event.entry)
  }
  const before = event.previous !== undefined && isSelected(request, plan, event.previous)
  const after = event.type === 'put' && isSelected(request, plan, event.entry)
  if (after) return frames.event(before ? 'MODIFIED' : 'ADDED', event.entry)
  if (!before) return undefined
  // The last state that the watcher knew, at the version in which it left.
  return event.type === 'delete' ? frames.event('DELETED', event.entry) : frames.left(event.previous as Entry, event.revision)
}

function* pieces(frames: readonly Uint8Array[]): Generator<Uint8Array> {
  let batch: Uint8Array[] = []
  let size = 0
  for (const frame of frames) {
    batch.push(frame)
    size += frame.byteLength
    if (size < pieceBytes) continue
    yield joined(batch)
    batch = []
    size = 0
  }
  if (batch.length > 0) yield joined(batch)
}

function joined(batch: readonly Uint8Array[]): Uint8Array {
  return batch.length === 1 ? (batch[0] as Uint8Array) : Buffer.concat(batch)
}

/** A doorbell: rings are remembered, so none is lost between looking and waiting. */
class Waker {
  stopped = false
  /** What has arrived is still wanted, and nothing after it. */
  retired = false
  #rung = false
  #resolve: (() => void) | undefined

  wake(): void {
    this.#rung = true
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
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve
      })
    }
    this.#rung = false
  }
}
