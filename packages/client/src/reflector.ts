import { ApiError, type ApiObject, type Clock, type Random } from '@krmkit/meta'
import { Backoff, sleep } from './backoff.ts'
import type { ObjectList, WatchEvent } from './interfaces.ts'

/** The requests of a reflector: list a collection, and watch it from a version. */
export interface ReflectorSource<T extends ApiObject> {
  list(signal: AbortSignal): AsyncIterable<ObjectList<T>>
  /** Opens one watch connection. Ends with the connection. @throws ApiError for an `ERROR` event */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>
}

export interface ReflectorOptions {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  /** Ends the reflector without an error. */
  readonly signal: AbortSignal
  /** Start after this version instead of listing. An expired version is then an error. */
  readonly resourceVersion: string | undefined
  /** Receives errors after which the reflector continues. Absent: permanent errors end the reflector. */
  readonly onError?: (error: unknown) => void
}

/** `list`: the complete collection at one version, which replaces the previous state. `event`: one change. */
export type ReflectorStep<T extends ApiObject> =
  | { readonly kind: 'list'; readonly items: readonly T[]; readonly resourceVersion: string }
  | { readonly kind: 'event'; readonly event: WatchEvent<T> }

/** A watch without events that is shorter than this counts as a failure. */
const shortWatchMs = 1000

/**
 * Follows a collection: lists it, watches from the version of the list, resumes the watch from the last version seen when it ends, and
 * lists again when that version has expired.
 *
 *     list --> watch --ended | interrupted--> watch (after a backoff, when it failed)
 *              watch --410--> list (after a backoff, when the list before it was caused by 410, too)
 */
export async function* reflect<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: ReflectorOptions,
): AsyncGenerator<ReflectorStep<T>, void, undefined> {
  const { clock, signal, onError } = options
  const backoff = new Backoff(options.random)
  let version = options.resourceVersion
  /** Whether the last list followed an expired version and no watch has succeeded since. */
  let isRepeated = false
  try {
    while (!signal.aborted) {
      let failure: unknown
      let startedAt = clock.now()
      try {
        if (version === undefined) {
          version = yield* listed(source, signal)
          startedAt = clock.now()
        }
        for await (const event of source.watch(version, signal)) {
          version = event.object.metadata.resourceVersion ?? version
          backoff.reset()
          isRepeated = false
          yield { kind: 'event', event }
        }
        if (clock.now() - startedAt < shortWatchMs) failure = new Error('the watch ended immediately')
      } catch (error) {
        failure = error
      }
      if (signal.aborted) return
      if (failure === undefined) continue
      if (isExpired(failure)) {
        if (options.resourceVersion !== undefined && onError === undefined) throw failure
        version = undefined
        const isFirst = !isRepeated || clock.now() - startedAt >= shortWatchMs
        isRepeated = true
        if (isFirst) continue
      } else if (onError === undefined && isPermanent(failure)) throw failure
      onError?.(failure)
      await sleep(backoff.next(), { clock, signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/**
 * Lists the collection. A separate generator, which ends before the watch begins, because a suspended generator retains the
 * objects that its variables refer to.
 *
 * @returns the version of the list
 */
async function* listed<T extends ApiObject>(
  source: ReflectorSource<T>,
  signal: AbortSignal,
): AsyncGenerator<ReflectorStep<T>, string, undefined> {
  const list = await listAll(source, signal)
  yield { kind: 'list', ...list }
  return list.resourceVersion
}

async function listAll<T extends ApiObject>(source: ReflectorSource<T>, signal: AbortSignal) {
  for (let tries = 0; ; tries++) {
    const items: T[] = []
    let resourceVersion = ''
    try {
      for await (const page of source.list(signal)) {
        items.push(...page.items)
        resourceVersion = page.metadata.resourceVersion ?? ''
      }
      return { items, resourceVersion }
    } catch (error) {
      // The continue token expired between two pages: start over.
      if (!isExpired(error) || tries >= 3) throw error
    }
  }
}

function isExpired(error: unknown): boolean {
  return ApiError.is(error) && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone')
}

/** Whether a retry would fail in the same way. */
function isPermanent(error: unknown): boolean {
  return ApiError.is(error) && error.code >= 400 && error.code < 500 && error.code !== 429 && error.code !== 408
}
