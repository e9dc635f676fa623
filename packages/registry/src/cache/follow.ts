import type { Entry, Storage, Watcher } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'
import type { ObjectCache } from './object-cache.ts'

/** Receives the stored objects of a collection, and then each change in order. */
export interface CollectionSink {
  put(object: FrozenObject): void
  /** `object` is the last state before its deletion. */
  remove(object: FrozenObject): void
  /** Events were missed: the present objects follow as `put`. */
  clear?(): void
}

export interface FollowOptions {
  /** Aborting it ends the subscription. */
  readonly signal: AbortSignal
  /** Called when the collection cannot be read again after missed events. */
  readonly onError?: (error: unknown) => void
  /** Whether to skip the existing objects, so that `sink` receives only later changes. Default false. */
  readonly changesOnly?: boolean
}

/**
 * A followed collection. Events are delivered on later turns of the event loop; `catchUp` delivers all events that have arrived at once.
 */
export interface Following {
  /** Delivers every change up to the newest revision. Does nothing while missed events are being read again. */
  catchUp(): void
  /** `catchUp`, after a pending re-read has ended. */
  caughtUp(): Promise<void>
  close(): void
}

/** Maximum number of events that may be pending within one turn of the event loop. */
const maxPending = 10_000_000

/**
 * Follows the objects below a prefix. `sink` has received the present objects when the promise resolves.
 *
 *     list --> watch from there --(events lost)--> clear --> list --> ...
 */
export async function followCollection(
  { storage, objectCache }: { readonly storage: Storage; readonly objectCache: ObjectCache },
  prefix: string,
  sink: CollectionSink,
  options: FollowOptions,
): Promise<Following> {
  const follower = new Follower(storage, objectCache, prefix, { ...options, sink })
  await follower.begin(options.changesOnly === true)
  return follower
}

class Follower implements Following {
  readonly #storage: Storage
  readonly #objectCache: ObjectCache
  readonly #prefix: string
  readonly #options: FollowOptions & { readonly sink: CollectionSink }
  #watcher: Watcher | undefined
  /** Newest revision whose events have been delivered. */
  #delivered = -1
  #closed = false
  readonly #abort = () => this.close()
  #rereading: Promise<void> | undefined

  constructor(
    storage: Storage,
    objectCache: ObjectCache,
    prefix: string,
    options: FollowOptions & { readonly sink: CollectionSink },
  ) {
    this.#storage = storage
    this.#objectCache = objectCache
    this.#prefix = prefix
    this.#options = options
    if (options.signal.aborted) this.close()
    else options.signal.addEventListener('abort', this.#abort, { once: true })
  }

  async begin(changesOnly: boolean): Promise<void> {
    const { sink } = this.#options
    const storage = this.#storage
    let from = storage.revision
    if (!changesOnly) {
      const { entries, revision } = await storage.list({ prefix: this.#prefix })
      for (const entry of this.#closed ? [] : entries) sink.put(this.#objectOf(entry))
      from = revision
    }
    if (this.#closed) return
    const watcher = storage.watch({ prefix: this.#prefix, from, maxPending })
    // Delivers events when they arrive, so that they do not accumulate between calls of `catchUp`.
    watcher.onReady = () => this.catchUp()
    this.#watcher = watcher
    this.#delivered = -1
    this.catchUp()
  }

  catchUp(): void {
    const { revision } = this.#storage
    const watcher = this.#watcher
    if (watcher === undefined || revision === this.#delivered) return
    this.#delivered = revision
    const { sink } = this.#options
    for (let events = watcher.take(); events.length > 0; events = watcher.take()) {
      for (const event of events) {
        const object = this.#objectOf(event.entry)
        if (event.type === 'put') sink.put(object)
        else sink.remove(object)
      }
    }
    if (watcher.ended === 'overflow') this.#reread()
  }

  async caughtUp(): Promise<void> {
    while (this.#rereading !== undefined) await this.#rereading
    this.catchUp()
  }

  close(): void {
    this.#closed = true
    this.#options.signal.removeEventListener('abort', this.#abort)
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #reread(): void {
    const { sink, onError } = this.#options
    this.#watcher = undefined
    sink.clear?.()
    this.#rereading = this.begin(false)
      .catch((error: unknown) => {
        if (!this.#closed) onError?.(error)
      })
      .finally(() => {
        this.#rereading = undefined
      })
  }

  #objectOf(entry: Entry): FrozenObject {
    return this.#objectCache.objectOf(entry)
  }
}
