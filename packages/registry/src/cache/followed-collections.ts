import type { ResourceDefinition } from '@krmkit/kinds'
import type { Entry, Storage, Watcher } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'
import { collectionPrefix } from '../keys.ts'
import type { ObjectCache } from './object-cache.ts'

const none: readonly FrozenObject[] = Object.freeze([])

/** In-memory collections that follow storage, so that listing them costs a map lookup. */
export class FollowedCollections {
  readonly #storage: Storage
  readonly #objectCache: ObjectCache
  readonly #collections = new Map<string, Promise<Followed> | Followed>()

  constructor(storage: Storage, objectCache: ObjectCache) {
    this.#storage = storage
    this.#objectCache = objectCache
  }

  covers({ strategy }: ResourceDefinition): boolean {
    return strategy.keepInMemory === true
  }

  /** Lists the objects in key order; `undefined` until the collection has been read. */
  listNow(definition: ResourceDefinition, namespace: string): readonly FrozenObject[] | undefined {
    const followed = this.#collections.get(collectionPrefix(definition))
    return followed instanceof Followed && !followed.lost ? followed.list(definition, namespace) : undefined
  }

  /** In key order. */
  async list(definition: ResourceDefinition, namespace: string): Promise<readonly FrozenObject[]> {
    const prefix = collectionPrefix(definition)
    let followed = this.#collections.get(prefix)
    if (followed === undefined || (followed instanceof Followed && followed.lost)) {
      followed = Followed.start(this.#storage, this.#objectCache, prefix)
      this.#collections.set(prefix, followed)
      const ready = await followed.catch((error) => {
        this.#collections.delete(prefix)
        throw error
      })
      this.#collections.set(prefix, ready)
      followed = ready
    }
    const ready = followed instanceof Followed ? followed : await followed
    return ready.list(definition, namespace)
  }
}

class Followed {
  readonly #objectCache: ObjectCache
  /** Prefix of the whole collection. */
  readonly #prefix: string
  readonly #watcher: Watcher
  /** Entries by namespace prefix (the collection prefix for cluster-scoped kinds), then by key. */
  readonly #groups = new Map<string, Map<string, Entry>>()
  /** Lists returned since the last change, by prefix. */
  readonly #lists = new Map<string, readonly FrozenObject[]>()

  static async start(storage: Storage, objectCache: ObjectCache, prefix: string): Promise<Followed> {
    const { entries, revision } = await storage.list({ prefix })
    return new Followed(objectCache, { prefix, watcher: storage.watch({ prefix, from: revision }) }, entries)
  }

  private constructor(objectCache: ObjectCache, from: { prefix: string; watcher: Watcher }, entries: readonly Entry[]) {
    this.#objectCache = objectCache
    this.#prefix = from.prefix
    this.#watcher = from.watcher
    for (const entry of entries) this.#take(entry.key, entry)
  }

  /** Whether the watcher has overflowed, so that the collection must be read again. */
  get lost(): boolean {
    return this.#watcher.ended !== undefined
  }

  /** Returns the same array until the collection changes. */
  list(definition: ResourceDefinition, namespace: string): readonly FrozenObject[] {
    this.#catchUp()
    if (this.#groups.size === 0) return none
    const prefix = namespace === '' ? this.#prefix : collectionPrefix(definition, namespace)
    let objects = this.#lists.get(prefix)
    if (objects === undefined) {
      const entries = this.#under(prefix).sort((a, b) => (a.key < b.key ? -1 : 1))
      // Empty results are not cached: clients choose the namespace, so the cache could grow without bound.
      if (entries.length === 0) return none
      objects = entries.map((entry) => this.#objectCache.objectOf(entry))
      this.#lists.set(prefix, objects)
    }
    return objects
  }

  #under(prefix: string): Entry[] {
    if (prefix === this.#prefix) return [...this.#groups.values()].flatMap((entries) => [...entries.values()])
    return [...(this.#groups.get(prefix)?.values() ?? [])]
  }

  #catchUp(): void {
    for (let events = this.#watcher.take(); events.length > 0; events = this.#watcher.take()) {
      this.#lists.clear()
      for (const event of events) this.#take(event.key, event.type === 'put' ? event.entry : undefined)
    }
  }

  #take(key: string, entry: Entry | undefined): void {
    const under = key.slice(0, key.lastIndexOf('/') + 1)
    const group = this.#groups.get(under)
    if (entry === undefined) {
      group?.delete(key)
      if (group?.size === 0) this.#groups.delete(under)
    } else if (group === undefined) this.#groups.set(under, new Map([[key, entry]]))
    else group.set(key, entry)
  }
}
