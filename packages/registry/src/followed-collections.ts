import type { ResourceDefinition } from '@krmkit/kinds'
import type { Entry, Storage, Watcher } from '@krmkit/storage'
import type { FrozenObject } from './interfaces.ts'
import { collectionPrefix } from './keys.ts'
import type { ObjectCache } from './object-cache.ts'

/** Collections that are read at every request of some kind and seldom written: few objects that say how others are treated. */
const small = new Set([
  'limitranges',
  'resourcequotas',
  'priorityclasses',
  'storageclasses',
  'ingressclasses',
  'runtimeclasses',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'flowschemas',
  'prioritylevelconfigurations',
])

const none: readonly FrozenObject[] = Object.freeze([])

/** Small collections that follow storage, so that a list of them costs a look-up. */
export class FollowedCollections {
  readonly #storage: Storage
  readonly #parsed: ObjectCache
  readonly #collections = new Map<string, Promise<Followed> | Followed>()

  constructor(storage: Storage, parsed: ObjectCache) {
    this.#storage = storage
    this.#parsed = parsed
  }

  covers({ custom, storage }: ResourceDefinition): boolean {
    return custom === undefined && small.has(storage.resource)
  }

  /** A whole collection in the order of keys; undefined as long as it has not been read. */
  listNow(definition: ResourceDefinition): readonly FrozenObject[] | undefined {
    const prefix = collectionPrefix(definition)
    const followed = this.#collections.get(prefix)
    return followed instanceof Followed && !followed.lost ? followed.list(prefix) : undefined
  }

  /** In the order of keys. */
  async list(definition: ResourceDefinition, namespace: string): Promise<readonly FrozenObject[]> {
    const prefix = collectionPrefix(definition)
    let followed = this.#collections.get(prefix)
    if (followed === undefined || (followed instanceof Followed && followed.lost)) {
      followed = Followed.start(this.#storage, this.#parsed, prefix)
      this.#collections.set(prefix, followed)
      const ready = await followed.catch((error) => {
        this.#collections.delete(prefix)
        throw error
      })
      this.#collections.set(prefix, ready)
      followed = ready
    }
    const ready = followed instanceof Followed ? followed : await followed
    return ready.list(namespace === '' ? prefix : collectionPrefix(definition, namespace))
  }
}

class Followed {
  readonly #parsed: ObjectCache
  /** Of the whole collection. */
  readonly #prefix: string
  readonly #watcher: Watcher
  /** Entries by key, by the prefix of their namespace (the collection's own for kinds without namespaces). */
  readonly #groups = new Map<string, Map<string, Entry>>()
  /** What was asked for since the last change, by prefix. */
  readonly #lists = new Map<string, readonly FrozenObject[]>()

  static async start(storage: Storage, parsed: ObjectCache, prefix: string): Promise<Followed> {
    const { entries, revision } = await storage.list({ prefix })
    return new Followed(parsed, { prefix, watcher: storage.watch({ prefix, from: revision }) }, entries)
  }

  private constructor(parsed: ObjectCache, from: { prefix: string; watcher: Watcher }, entries: readonly Entry[]) {
    this.#parsed = parsed
    this.#prefix = from.prefix
    this.#watcher = from.watcher
    for (const entry of entries) this.#take(entry.key, entry)
  }

  /** It fell behind and has to begin again. */
  get lost(): boolean {
    return this.#watcher.ended !== undefined
  }

  /** The very same list as long as nothing has changed. */
  list(prefix: string): readonly FrozenObject[] {
    this.#catchUp()
    let objects = this.#lists.get(prefix)
    if (objects === undefined) {
      const entries = this.#under(prefix).sort((a, b) => (a.key < b.key ? -1 : 1))
      // A namespace without objects may be one that a caller made up: nothing is kept of it.
      if (entries.length === 0) return none
      objects = entries.map((entry) => this.#parsed.objectOf(entry))
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
