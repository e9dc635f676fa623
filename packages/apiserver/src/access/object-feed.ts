import type { ObjectEventHandler, ObjectInformer } from '@krmkit/authorization'
import { collectionPrefix, type Registry } from '@krmkit/registry'
import type { Storage, Watcher } from '@krmkit/storage'

export interface StoreFeedOptions {
  readonly registry: Pick<Registry, 'environment' | 'parsed' | 'stored'>
  /** Everything ends when it aborts. */
  readonly closing: AbortSignal
  readonly onFault: (error: unknown) => void
}

/** Events that may wait for one turn of the event loop: as many as there is room for. */
const maxPending = 10_000_000

/**
 * Follows the store itself. What is visible there is known at the next `catchUp`, without waiting: a binding that was made is in force for
 * the very next request.
 */
export function storeFeed({ registry, closing, onFault }: StoreFeedOptions): ObjectInformer {
  return {
    async follow({ group, resource }, sink) {
      const definition = registry.stored(group, resource)
      if (definition === undefined) return undefined
      const { storage } = registry.environment
      const followed = new FollowedCollection(storage, registry.parsed, collectionPrefix(definition), { sink, closing, onFault })
      await followed.begin()
      return () => followed.catchUp()
    },
  }
}

interface FollowOptions extends Pick<StoreFeedOptions, 'closing' | 'onFault'> {
  readonly sink: ObjectEventHandler
}

class FollowedCollection {
  readonly #storage: Storage
  readonly #parsed: Registry['parsed']
  readonly #prefix: string
  readonly #options: FollowOptions
  #watcher: Watcher | undefined
  /** The newest revision that was looked at. */
  #seen = -1

  constructor(storage: Storage, parsed: Registry['parsed'], prefix: string, options: FollowOptions) {
    this.#storage = storage
    this.#parsed = parsed
    this.#prefix = prefix
    this.#options = options
    options.closing.addEventListener('abort', () => this.#watcher?.close(), { once: true })
  }

  async begin(): Promise<void> {
    const { sink, closing } = this.#options
    const { entries, revision } = await this.#storage.list({ prefix: this.#prefix })
    if (closing.aborted) return
    for (const entry of entries) sink.put(this.#parsed.objectOf(entry))
    const watcher = this.#storage.watch({ prefix: this.#prefix, from: revision, maxPending })
    // While nobody asks, events must not pile up.
    watcher.onReady = () => this.catchUp()
    this.#watcher = watcher
    this.#seen = -1
    this.catchUp()
  }

  catchUp(): void {
    const { revision } = this.#storage
    if (revision === this.#seen) return
    const watcher = this.#watcher
    if (watcher === undefined) return
    this.#seen = revision
    const { sink } = this.#options
    for (let events = watcher.take(); events.length > 0; events = watcher.take()) {
      for (const event of events) {
        const object = this.#parsed.objectOf(event.entry)
        if (event.type === 'put') sink.put(object)
        else sink.remove(object)
      }
    }
    if (watcher.ended === 'overflow') this.#beginAgain()
  }

  /** Something was missed: nobody is let in by what may be out of date, until all is known again. */
  #beginAgain(): void {
    const { sink, closing, onFault } = this.#options
    this.#watcher = undefined
    sink.clear()
    this.begin().catch((error) => {
      if (!closing.aborted) onFault(error)
    })
  }
}
