import { ApiError } from '@krmkit/meta'
import { type Entry, StorageError, type StorageEvent, type Watcher, type WatchSelection } from '@krmkit/storage'
import type { WatchRequest } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { collectionPrefix, isStorableName, objectKey } from '../keys.ts'
import { listEntries, selects } from './list.ts'
import { parseResourceVersion, waitForNewest } from './resource-version.ts'
import { selectionsOf } from './selections.ts'

/** A change as one watch sees it. */
export interface ResourceEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The new state; for `DELETED` the last one. */
  readonly entry: Entry
  /** Set when the object left the selection but still exists: the version at which it left. `entry` is the last selected state. */
  readonly leftAt?: string
}

/** A change before selectors are applied. */
export type PendingEvent = StorageEvent

/**
 * A watch of a collection or of one object.
 *
 *     initial --> take --> ... --ended | close--> end
 */
export interface ResourceWatch {
  /** Whether there are objects to send first. */
  readonly hasInitial: boolean
  /** Version of the initial state, or the one that the watch starts after. */
  readonly startVersion: string
  /** Whether the watch has selectors. Without selectors, every watch of the collection sees the same events. */
  readonly isSelective: boolean
  /** All events up to this version have been taken, so that a bookmark may carry it. */
  readonly resourceVersion: string
  /** Whether the watch has ended, because it fell too far behind or the server is closing. No further events arrive. */
  readonly ended: boolean
  /** Called on a later turn of the event loop when events have arrived or the watch has ended. */
  onReady: (() => void) | undefined
  /**
   * Returns the objects to send first, as ADDED, and drops its references: otherwise a long watch would keep superseded versions in memory.
   */
  takeInitial(): readonly Entry[]
  /** Removes and returns events that have arrived, `max` at most. */
  take(max: number): readonly PendingEvent[]
  /** The event as this watch sees it; `undefined` when it concerns no selected object. The entries of the event must be loaded. */
  select(event: PendingEvent): ResourceEvent | undefined
  close(): void
}

/**
 * Reads the initial state where the request asks for it, and subscribes to the changes after exactly that state.
 *
 * @throws ApiError 400 for a malformed resourceVersion, 410 for one whose history is gone.
 */
export async function watchEntries(store: StoreInternals, request: WatchRequest, signal: AbortSignal): Promise<ResourceWatch> {
  const version = parseResourceVersion(request.resourceVersion)
  const isNewest = version === undefined || version === 0
  const key = watchedKey(store, request)
  if (request.sendInitialEvents ?? isNewest) return watchFromPresent(store, request, { key, signal })
  if (!isNewest) return watchFrom(store, request, { key, from: version })
  const { storage } = store.environment
  if (version === undefined) await waitForNewest(storage)
  return watchFrom(store, request, { key, from: storage.revision })
}

/** The narrowest prefix that holds every watched object: one key when the name is fixed. */
function watchedKey({ definition }: StoreInternals, { namespace: requested, name, fieldSelector }: WatchRequest): string {
  const { namespaced } = definition.kind
  const namespace = namespaced ? requested : ''
  const fixed = name !== '' ? name : fieldSelector?.exactMatch('metadata.name')
  const isSingle = fixed !== undefined && isStorableName(fixed) && (!namespaced || namespace !== '')
  return isSingle ? objectKey(definition, namespace, fixed) : collectionPrefix(definition, namespace)
}

async function watchFromPresent(
  store: StoreInternals,
  request: WatchRequest,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<ResourceWatch> {
  const { definition, environment, objectCache } = store
  const { storage } = environment
  const { labelSelector, fieldSelector, resourceVersion = '' } = request
  if (!key.endsWith('/')) {
    if (resourceVersion === '') await waitForNewest(storage)
    const from = storage.revision
    const entry = storage.peek(key)
    if (entry !== undefined) await objectCache.loadSelected(definition, entry)
    const initial = entry !== undefined && selects(objectCache, definition, request, entry) ? [entry] : []
    return createWatch(store, request, { watcher: storage.watch({ prefix: key, from }), initial, start: String(from) })
  }
  const namespace = definition.kind.namespaced ? request.namespace : ''
  const versionOfList = resourceVersion === '' ? {} : { resourceVersion: '0' }
  const list = await listEntries(store, { namespace, labelSelector, fieldSelector, ...versionOfList }, signal)
  const watcher = storage.watch({ prefix: key, from: Number(list.resourceVersion), selection: selectionOf(store, request) })
  return createWatch(store, request, { watcher, initial: list.entries, start: list.resourceVersion })
}

function watchFrom(
  store: StoreInternals,
  request: WatchRequest,
  { key, from }: { readonly key: string; readonly from: number },
): ResourceWatch {
  const { storage } = store.environment
  try {
    const watcher = storage.watch({ prefix: key, from, selection: selectionOf(store, request) })
    return createWatch(store, request, { watcher, initial: [], start: String(from) })
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'Compacted') throw error
    const { status } = ApiError.expired('The resourceVersion for the provided watch is too old.')
    throw new ApiError({ ...status, message: `too old resource version: ${from} (${storage.compacted})` })
  }
}

/** The one selection that storage indexes the watch by. */
function selectionOf(store: StoreInternals, request: WatchRequest): WatchSelection | undefined {
  return selectionsOf(store, request)[0]
}

interface WatchStart {
  readonly watcher: Watcher
  readonly initial: readonly Entry[]
  readonly start: string
}

function createWatch(store: StoreInternals, request: WatchRequest, { watcher, initial, start }: WatchStart): ResourceWatch {
  const isSelective = request.labelSelector !== undefined || request.fieldSelector !== undefined
  const isSelected = (entry: Entry) => selects(store.objectCache, store.definition, request, entry)
  let untaken = initial
  return {
    hasInitial: initial.length > 0,
    takeInitial() {
      const taken = untaken
      untaken = []
      return taken
    },
    startVersion: start,
    isSelective,
    get resourceVersion() {
      return String(watcher.revision)
    },
    get ended() {
      return watcher.ended !== undefined
    },
    get onReady() {
      return watcher.onReady
    },
    set onReady(callback) {
      watcher.onReady = callback
    },
    take: (max) => watcher.take(max),
    select: (event) => (isSelective ? selectedEvent(event, isSelected) : plainEvent(event)),
    close: () => watcher.close(),
  }
}

function plainEvent({ type, entry, previous }: StorageEvent): ResourceEvent {
  if (type === 'delete') return { type: 'DELETED', entry }
  return { type: previous === undefined ? 'ADDED' : 'MODIFIED', entry }
}

/** Converts a storage event to ADDED, MODIFIED or DELETED, by whether the object enters, stays in or leaves the selection. */
function selectedEvent(event: StorageEvent, isSelected: (entry: Entry) => boolean): ResourceEvent | undefined {
  const { type, entry, previous, revision } = event
  const before = previous !== undefined && isSelected(previous)
  if (type === 'put' && isSelected(entry)) return { type: before ? 'MODIFIED' : 'ADDED', entry }
  if (!before) return undefined
  return type === 'delete' ? { type: 'DELETED', entry } : { type: 'DELETED', entry: previous, leftAt: String(revision) }
}
