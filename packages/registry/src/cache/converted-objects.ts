import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject } from '../interfaces.ts'

/** A promise for large objects. */
type Freeze = (object: ApiObject) => FrozenObject | Promise<FrozenObject>

/**
 * Caches stored objects in versions that a webhook converts. Missing entries are converted in one request, and kept as long as the
 * stored entry, so that each revision is converted once per version.
 *
 *     load(entries) --(one request for the missing ones)--> seen(entry), synchronously
 */
export class ConvertedObjects {
  readonly #objectOf: (entry: Entry) => FrozenObject
  readonly #freeze: Freeze
  readonly #seen = new WeakMap<ResourceDefinition, WeakMap<Entry, FrozenObject>>()
  readonly #coming = new WeakMap<ResourceDefinition, WeakMap<Entry, Promise<void>>>()

  constructor(objectOf: (entry: Entry) => FrozenObject, freeze: Freeze) {
    this.#objectOf = objectOf
    this.#freeze = freeze
  }

  /** @returns `undefined` when all entries are cached. Rejects with the error of the conversion. */
  load(definition: ResourceDefinition, entries: Iterable<Entry>): Promise<void> | undefined {
    const { conversion } = definition
    if (conversion === undefined) return undefined
    const seen = at(this.#seen, definition)
    const coming = at(this.#coming, definition)
    const others = new Set<Promise<void>>()
    const missing = new Set<Entry>()
    const awaited: Entry[] = []
    for (const entry of entries) {
      if (seen.has(entry)) continue
      const way = coming.get(entry)
      if (way === undefined) missing.add(entry)
      else {
        others.add(way)
        awaited.push(entry)
      }
    }
    if (missing.size === 0 && others.size === 0) return undefined
    let own: Promise<void> | undefined
    if (missing.size > 0) {
      const requested = [...missing]
      own = conversion
        .read(
          requested.map((entry) => this.#objectOf(entry)),
          { stored: true },
        )
        .then(async (objects) => {
          for (const [index, entry] of requested.entries()) {
            const freezing = this.#freeze(objects[index] as ApiObject)
            seen.set(entry, freezing instanceof Promise ? await freezing : freezing)
          }
        })
        .finally(() => {
          for (const entry of requested) coming.delete(entry)
        })
      for (const entry of requested) coming.set(entry, own)
    }
    return Promise.all([own, this.#whenConverted(definition, awaited, others)]).then(() => undefined)
  }

  /** Waits for conversions of other loads. One that fails may have failed for another entry, so these are converted by themselves. */
  async #whenConverted(definition: ResourceDefinition, entries: readonly Entry[], others: ReadonlySet<Promise<void>>) {
    const ends = await Promise.allSettled(others)
    if (ends.some(({ status }) => status === 'rejected')) await this.load(definition, entries)
  }

  /** The converted object of a loaded entry, or the stored object where no webhook converts. */
  seen(definition: ResourceDefinition, entry: Entry): FrozenObject {
    if (definition.conversion === undefined) return this.#objectOf(entry)
    const object = this.#seen.get(definition)?.get(entry)
    if (object === undefined) throw new Error(`an entry of ${definition.resource.name} was looked at before it was loaded`)
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
