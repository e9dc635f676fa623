import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'

/** Returns a promise for large objects, which are frozen in slices. */
type Freeze = (object: ApiObject) => FrozenObject | Promise<FrozenObject>

/**
 * Caches stored objects in versions that a webhook converts. All missing entries are converted in one request. A converted object is kept
 * as long as its stored entry, so that each revision is converted once per version.
 *
 *     load(entries) --(one request for the missing ones)--> get(entry), synchronously
 */
export class ConvertedObjects {
  readonly #objectOf: (entry: Entry) => FrozenObject
  readonly #freeze: Freeze
  readonly #cached = new WeakMap<ResourceDefinition, WeakMap<Entry, FrozenObject>>()
  readonly #pending = new WeakMap<ResourceDefinition, WeakMap<Entry, Promise<void>>>()

  constructor(objectOf: (entry: Entry) => FrozenObject, freeze: Freeze) {
    this.#objectOf = objectOf
    this.#freeze = freeze
  }

  /** @returns `undefined` when all entries are cached. Rejects with the error of the conversion. */
  load(definition: ResourceDefinition, entries: Iterable<Entry>): Promise<void> | undefined {
    const { conversion } = definition
    if (conversion === undefined) return undefined
    const cached = at(this.#cached, definition)
    const pending = at(this.#pending, definition)
    const others = new Set<Promise<void>>()
    const missing = new Set<Entry>()
    const awaited: Entry[] = []
    for (const entry of entries) {
      if (cached.has(entry)) continue
      const conversionOfOther = pending.get(entry)
      if (conversionOfOther === undefined) missing.add(entry)
      else {
        others.add(conversionOfOther)
        awaited.push(entry)
      }
    }
    if (missing.size === 0 && others.size === 0) return undefined
    const converting = missing.size === 0 ? undefined : this.#convert([...missing], conversion, { cached, pending })
    return Promise.all([converting, this.#whenConverted(definition, awaited, others)]).then(() => undefined)
  }

  /** Converts entries in one request. */
  #convert(
    entries: readonly Entry[],
    conversion: NonNullable<ResourceDefinition['conversion']>,
    { cached, pending }: { readonly cached: WeakMap<Entry, FrozenObject>; readonly pending: WeakMap<Entry, Promise<void>> },
  ): Promise<void> {
    const converting = conversion
      .read(
        entries.map((entry) => this.#objectOf(entry)),
        { stored: true },
      )
      .then(async (objects) => {
        for (const [index, entry] of entries.entries()) cached.set(entry, await this.#freeze(objects[index] as ApiObject))
      })
      .finally(() => {
        for (const entry of entries) pending.delete(entry)
      })
    for (const entry of entries) pending.set(entry, converting)
    return converting
  }

  /**
   * Waits for conversions that other loads have started. Such a conversion may fail because of an entry that this load does not need, so
   * after a failure the entries are converted in a request of this load.
   */
  async #whenConverted(definition: ResourceDefinition, entries: readonly Entry[], others: ReadonlySet<Promise<void>>) {
    const ends = await Promise.allSettled(others)
    if (ends.some(({ status }) => status === 'rejected')) await this.load(definition, entries)
  }

  /** The converted object of a loaded entry, or the stored object where no webhook converts. */
  get(definition: ResourceDefinition, entry: Entry): FrozenObject {
    if (definition.conversion === undefined) return this.#objectOf(entry)
    const object = this.#cached.get(definition)?.get(entry)
    if (object === undefined) throw new Error(`an entry of ${definition.resource.name} was read before it was loaded`)
    return object
  }
}

function at<K extends object, V>(
  map: WeakMap<ResourceDefinition, WeakMap<K & WeakKey, V>>,
  definition: ResourceDefinition,
): WeakMap<K & WeakKey, V> {
  let inner = map.get(definition)
  if (inner === undefined) {
    inner = new WeakMap()
    map.set(definition, inner)
  }
  return inner
}
