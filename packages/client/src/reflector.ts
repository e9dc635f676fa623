import { ApiError, type ApiObject, type Clock, type Random } from '@krmkit/meta'
import { Backoff, pause } from './backoff.ts'
import type { ObjectList, WatchEvent } from './interfaces.ts'

/** What a reflector asks: a whole collection, and the changes after a version. */
export interface ReflectorSource<T extends ApiObject> {
  list(signal: AbortSignal): AsyncIterable<ObjectList<T>>
  /** One connection: ends when the server or the network ends it. @throws ApiError of an `ERROR` event. */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>
}

export interface ReflectorOptions {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  /** Ends the reflector, quietly. */
  readonly signal: AbortSignal
  /** Start here instead of listing; then running out of history is an error. */
  readonly resourceVersion: string | undefined
  /** Told of failures after which it goes on. Absent: a failing list ends the reflector with that error. */
  readonly onError?: (error: unknown) => void
}

/** `list`: the whole collection as of one version, in place of everything before; `event`: one change. */
export type ReflectorStep<T extends ApiObject> =
  | { readonly kind: 'list'; readonly items: readonly T[]; readonly resourceVersion: string }
  | { readonly kind: 'event'; readonly event: WatchEvent<T> }

/** A connection that brought nothing and ended sooner than this counts as a failure. */
const shortWatchMs = 1000

/**
 * Follows a collection: lists it, watches from there, opens the watch again from the last version seen when it ends, and
 * lists again when the server has forgotten that version.
 *
 *     list --> watch --ended | broken--> watch (after a pause, when it failed)
 *              watch --410--> list
 */
export async function* reflect<T extends ApiObject>(
  source: ReflectorSource<T>,
  options: ReflectorOptions,
): AsyncGenerator<ReflectorStep<T>, void, undefined> {
  const { clock, signal, onError } = options
  const backoff = new Backoff(options.random)
  let version = options.resourceVersion
  try {
    while (!signal.aborted) {
      let failure: unknown
      const startedAt = clock.now()
      try {
        if (version === undefined) {
          const whole = await listWhole(source, signal)
          version = whole.resourceVersion
          yield { kind: 'list', ...whole }
        }
        for await (const event of source.watch(version, signal)) {
          version = event.object.metadata.resourceVersion ?? version
          backoff.reset()
          yield { kind: 'event', event }
        }
        if (clock.now() - startedAt < shortWatchMs) failure = new Error('the watch ended at once')
      } catch (error) {
        failure = error
      }
      if (signal.aborted) return
      if (failure === undefined) continue
      if (isForgotten(failure)) {
        if (options.resourceVersion !== undefined && onError === undefined) throw failure
        version = undefined
        continue
      }
      if (onError === undefined && isFinal(failure)) throw failure
      onError?.(failure)
      await pause(backoff.next(), { clock, signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function listWhole<T extends ApiObject>(source: ReflectorSource<T>, signal: AbortSignal) {
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
      // The snapshot went away between two pages: begin again.
      if (!isForgotten(error) || tries >= 3) throw error
    }
  }
}

function isForgotten(error: unknown): boolean {
  return ApiError.is(error) && error.code === 410
}

/** Trying again would only give the same answer. */
function isFinal(error: unknown): boolean {
  return ApiError.is(error) && error.code >= 400 && error.code < 500 && error.code !== 429 && error.code !== 408
}
