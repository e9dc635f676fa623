import type { SharedEvent } from '@krmkit/apiserver'
import { ApiError, type ApiObject, type Clock, type Random } from '@krmkit/meta'
import { ClientError } from './client-error.ts'
import type { WatchEvent } from './interfaces.ts'
import { linesOf } from './json-lines.ts'
import { type ReflectorSource, reflect } from './reflector.ts'
import { isStatus, parseAnswer } from './response.ts'

export interface FollowOptions {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly resourceVersion: string | undefined
  readonly bookmarks: boolean
  readonly resume: boolean
  readonly signal: AbortSignal | undefined
}

/** Reads watch events from the body of an answer. @throws ApiError of an `ERROR` event. */
export async function* eventsOf<T extends ApiObject>(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of linesOf(body)) yield checked(parseAnswer(line))
}

/** Watch events that come as objects. @throws ApiError of an `ERROR` event. */
export async function* sharedEventsOf<T extends ApiObject>(
  batches: AsyncIterable<readonly SharedEvent[]>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const batch of batches) for (const event of batch) yield checked(event)
}

function checked<T extends ApiObject>(event: unknown): WatchEvent<T> {
  if (!isEvent(event)) throw new ClientError({ code: 'InvalidAnswer', message: 'a watch sent something that is no event' })
  if (event.type === 'ERROR') {
    throw isStatus(event.object)
      ? new ApiError(event.object)
      : new ClientError({ code: 'InvalidAnswer', message: 'a watch failed without a Status' })
  }
  return event as WatchEvent<T>
}

function isEvent(value: unknown): value is { type: string; object: object } {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('object' in value)) return false
  return typeof value.type === 'string' && typeof value.object === 'object' && value.object !== null
}

/**
 * The events of a collection as one loop sees them. `return()`, which leaving a loop calls, ends the request under way even
 * while an event is waited for.
 */
export function follow<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: FollowOptions,
): AsyncIterableIterator<WatchEvent<T>> {
  const abort = new AbortController()
  const signal = options.signal === undefined ? abort.signal : AbortSignal.any([options.signal, abort.signal])
  const events = options.resume ? resumed(source, options, signal) : once(source, options, signal)
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

async function* once<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: FollowOptions,
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

async function* resumed<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: FollowOptions,
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

/** The events that lead from what was known to `items`. Deleted objects are told in their last known state. */
export function* differences<T extends ApiObject>(known: Map<string, T>, items: readonly T[]): Generator<WatchEvent<T>> {
  const gone = new Map(known)
  const changes: WatchEvent<T>[] = []
  for (const object of items) {
    const key = keyOf(object)
    const before = known.get(key)
    const same = before !== undefined && before.metadata.uid === object.metadata.uid
    if (same) gone.delete(key)
    known.set(key, object)
    if (!same) changes.push({ type: 'ADDED', object })
    else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) changes.push({ type: 'MODIFIED', object })
  }
  for (const [key, object] of gone) {
    if (known.get(key) === object) known.delete(key)
    yield { type: 'DELETED', object }
  }
  yield* changes
}

/** `namespace/name`, or the name alone. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  const { namespace, name = '' } = object.metadata
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}
