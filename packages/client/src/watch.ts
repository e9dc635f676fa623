import { ApiError, type ApiObject, type Clock, type Random } from '@krmkit/meta'
import type { SharedEvent } from '@krmkit/protocol'
import { ClientError } from './client-error.ts'
import type { WatchEvent } from './interfaces.ts'
import { type ReflectorSource, reflect } from './reflector.ts'
import { isStatus } from './response.ts'

export interface WatchCollectionOptions {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly resourceVersion: string | undefined
  readonly bookmarks: boolean
  readonly resume: boolean
  readonly signal: AbortSignal | undefined
}

/** Validates decoded watch events. @throws ApiError for an `ERROR` event */
export async function* eventsOf<T extends ApiObject>(
  events: AsyncIterable<unknown>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const event of events) {
    const known = checkedEvent<T>(event)
    if (known !== undefined) yield known
  }
}

/** Reads watch events that an in-process server passes as objects. @throws ApiError for an `ERROR` event */
export async function* sharedEventsOf<T extends ApiObject>(
  batches: AsyncIterable<readonly SharedEvent[]>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const batch of batches) {
    for (const event of batch) {
      const known = checkedEvent<T>(event)
      if (known !== undefined) yield known
    }
  }
}

const knownTypes: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/** Validates an event; returns undefined for unknown types, which newer servers may send. */
function checkedEvent<T extends ApiObject>(event: unknown): WatchEvent<T> | undefined {
  if (!isEvent(event)) throw new ClientError({ code: 'InvalidResponse', message: 'a message of the watch is not an event' })
  if (event.type === 'ERROR') {
    throw isStatus(event.object)
      ? new ApiError(event.object)
      : new ClientError({ code: 'InvalidResponse', message: 'the ERROR event of the watch has no Status' })
  }
  return knownTypes.has(event.type) ? (event as WatchEvent<T>) : undefined
}

function isEvent(value: unknown): value is { type: string; object: object } {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('object' in value)) return false
  return typeof value.type === 'string' && typeof value.object === 'object' && value.object !== null
}

/**
 * Iterates over the events of a collection. `return()`, which leaving a loop calls, ends the request even while the next event is
 * pending.
 */
export function watchCollection<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: WatchCollectionOptions,
): AsyncIterableIterator<WatchEvent<T>> {
  const abort = new AbortController()
  const signal = options.signal === undefined ? abort.signal : AbortSignal.any([options.signal, abort.signal])
  const events = options.resume ? watchResumed(source, options, signal) : watchOnce(source, options, signal)
  return {
    next: () => events.next(),
    async return() {
      abort.abort()
      await events.return(undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* watchOnce<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: WatchCollectionOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  try {
    for await (const event of source.watch(options.resourceVersion ?? '', signal)) {
      if (event.type !== 'BOOKMARK' || options.bookmarks) yield event
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function* watchResumed<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: WatchCollectionOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const known = options.resourceVersion === undefined ? new Map<string, T>() : undefined
  for await (const step of reflect(source, { ...options, signal })) {
    if (step.kind === 'list') {
      if (known !== undefined) yield* differences(known, step.items)
      continue
    }
    const { event } = step
    if (event.type === 'BOOKMARK') {
      if (options.bookmarks) yield event
      continue
    }
    if (event.type === 'DELETED') known?.delete(keyOf(event.object))
    else known?.set(keyOf(event.object), event.object)
    yield event
  }
}

/**
 * Returns the events that lead from the known state to `items`, and updates `known`. Deleted objects are reported with their
 * last known state.
 */
export function* differences<T extends ApiObject>(known: Map<string, T>, items: readonly T[]): Generator<WatchEvent<T>> {
  const deleted = new Map(known)
  const changes: WatchEvent<T>[] = []
  for (const object of items) {
    const key = keyOf(object)
    const previous = known.get(key)
    const isSame = previous !== undefined && previous.metadata.uid === object.metadata.uid
    if (isSame) deleted.delete(key)
    known.set(key, object)
    if (!isSame) changes.push({ type: 'ADDED', object })
    else if (previous.metadata.resourceVersion !== object.metadata.resourceVersion) changes.push({ type: 'MODIFIED', object })
  }
  for (const [key, object] of deleted) {
    if (known.get(key) === object) known.delete(key)
    yield { type: 'DELETED', object }
  }
  yield* changes
}

/** Returns `namespace/name`, or the name of a cluster-scoped object. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  const { namespace, name = '' } = object.metadata
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}
