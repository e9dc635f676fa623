import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { keyOf } from './watch.ts'

export interface IndexerOptions<T extends ApiObject> {
  /** Label keys to index. */
  readonly labels: readonly string[]
  readonly indexers: Readonly<Record<string, IndexFunction<T>>>
}

/** Returns the index values of an object. Must be deterministic. */
export type IndexFunction<T extends ApiObject> = (object: DeepReadonly<T>) => readonly string[]

type Index<T> = Map<string, Set<T>>

interface CustomIndex<T extends ApiObject> {
  readonly valuesOf: IndexFunction<T>
  readonly objects: Index<T>
}

/** Stores objects by key, with indexes by namespace, by label values and by custom index functions. Never modifies objects. */
export class Indexer<T extends ApiObject> {
  readonly objects = new Map<string, T>()
  readonly #namespaces: Index<T> = new Map()
  readonly #labels: ReadonlyMap<string, Index<T>>
  readonly #indexes = new Map<string, CustomIndex<T>>()

  constructor(options: IndexerOptions<T>) {
    this.#labels = new Map(options.labels.map((label) => [label, new Map()]))
    for (const [name, valuesOf] of Object.entries(options.indexers)) this.#indexes.set(name, { valuesOf, objects: new Map() })
  }

  /** Adds a custom index of all objects, unless one of that name exists. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return
    const objects: Index<T> = new Map()
    this.#indexes.set(name, { valuesOf, objects })
    for (const object of this.objects.values())
      for (const value of valuesOf(object as DeepReadonly<T>)) insert(objects, value, object)
  }

  /** Adds or replaces an object. @returns the replaced object */
  set(object: T): T | undefined {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before !== undefined) this.#removeFromIndexes(before)
    this.objects.set(key, object)
    for (const [index, value] of this.#indexEntries(object)) insert(index, value, object)
    return before
  }

  /** Removes the object with the key of `object`. @returns whether an object was removed */
  delete(object: T): boolean {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before === undefined) return false
    this.#removeFromIndexes(before)
    return this.objects.delete(key)
  }

  inNamespace(namespace: string): T[] {
    return [...(this.#namespaces.get(namespace) ?? [])]
  }

  /** @throws RangeError for a label that is not indexed */
  withLabel(key: string, value: string): T[] {
    return lookUp(this.#labels.get(key), key, value)
  }

  /** @throws RangeError for an unknown index */
  byIndex(name: string, value: string): T[] {
    return lookUp(this.#indexes.get(name)?.objects, name, value)
  }

  #removeFromIndexes(object: T): void {
    for (const [index, value] of this.#indexEntries(object)) {
      const found = index.get(value)
      found?.delete(object)
      if (found?.size === 0) index.delete(value)
    }
  }

  *#indexEntries(object: T): Generator<[index: Index<T>, value: string]> {
    const { namespace = '', labels = {} } = object.metadata
    yield [this.#namespaces, namespace]
    for (const [label, index] of this.#labels) {
      const value = Object.hasOwn(labels, label) ? labels[label] : undefined
      if (value !== undefined) yield [index, value]
    }
    for (const { valuesOf, objects } of this.#indexes.values()) {
      for (const value of valuesOf(object as DeepReadonly<T>)) yield [objects, value]
    }
  }
}

function insert<T>(index: Index<T>, value: string, object: T): void {
  const found = index.get(value)
  if (found === undefined) index.set(value, new Set([object]))
  else found.add(object)
}

function lookUp<T>(index: Index<T> | undefined, name: string, value: string): T[] {
  if (index === undefined) throw new RangeError(`unknown index ${JSON.stringify(name)}`)
  return [...(index.get(value) ?? [])]
}
