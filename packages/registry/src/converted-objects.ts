import type { ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { Entry } from '@krmkit/storage'
import type { FrozenObject } from './interfaces.ts'

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
    const waits = new Set<Promise<void>>()
    const missing = new Set<Entry>()
    for (const entry of entries) {
      if (seen.has(entry)) continue
      const way = coming.get(entry)
      if (way === undefined) missing.add(entry)
      else waits.add(way)
    }
    if (missing.size > 0) {
      const asked = [...missing]
      const work = conversion
        .read(asked.map((entry) => this.#objectOf(entry)))
        .then(async (objects) => {
          for (const [index, entry] of asked.entries()) {
            const freezing = this.#freeze(objects[index] as ApiObject)
            seen.set(entry, freezing instanceof Promise ? await freezing : freezing)
          }
        })
        .finally(() => {
          for (const entry of asked) coming.delete(entry)
        })
      for (const entry of asked) coming.set(entry, work)
      waits.add(work)
    }
    return waits.size === 0 ? undefined : Promise.all(waits).then(() => undefined)
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
