import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { keyOf } from './watch.ts'

export interface IndexerOptions<T extends ApiObject> {
  /** Label keys to index. */
  readonly labels: readonly string[]
  readonly indexers: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>>
}

type Index<T> = Map<string, Set<T>>

/** Stores objects by key, with indexes by namespace, by label values and by custom index functions. Never modifies objects. */
export class Indexer<T extends ApiObject> {
  readonly objects = new Map<string, T>()
  readonly #namespaces: Index<T> = new Map()
  readonly #labels: ReadonlyMap<string, Index<T>>
  readonly #indexes: ReadonlyMap<string, Index<T>>
  readonly #indexers: IndexerOptions<T>['indexers']

  constructor(options: IndexerOptions<T>) {
    this.#labels = new Map(options.labels.map((label) => [label, new Map()]))
    this.#indexes = new Map(Object.keys(options.indexers).map((name) => [name, new Map()]))
    this.#indexers = options.indexers
  }

  /** Adds or replaces an object. @returns the replaced object */
  set(object: T): T | undefined {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before !== undefined) this.#removeFromIndexes(before)
    this.objects.set(key, object)
    for (const [index, value] of this.#indexEntries(object)) {
      const found = index.get(value)
      if (found === undefined) index.set(value, new Set([object]))
      else found.add(object)
    }
    return before
  }

  /** Removes the object with the key of `object`. */
  delete(object: T): void {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before === undefined) return
    this.#removeFromIndexes(before)
    this.objects.delete(key)
  }

  inNamespace(namespace: string): T[] {
    return [...(this.#namespaces.get(namespace) ?? [])]
  }

  /** @throws RangeError for a label that is not indexed */
  withLabel(key: string, value: string): T[] {
    return lookUp(this.#labels, key, value)
  }

  /** @throws RangeError for an unknown index */
  byIndex(name: string, value: string): T[] {
    return lookUp(this.#indexes, name, value)
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
    for (const [name, index] of this.#indexes) {
      for (const value of this.#indexers[name]!(object as DeepReadonly<T>)) yield [index, value]
    }
  }
}

function lookUp<T>(indexes: ReadonlyMap<string, Index<T>>, name: string, value: string): T[] {
  const index = indexes.get(name)
  if (index === undefined) throw new RangeError(`unknown index ${JSON.stringify(name)}`)
  return [...(index.get(value) ?? [])]
}
