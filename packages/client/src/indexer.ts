import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { keyOf } from './watch.ts'

export interface MirrorOptions<T extends ApiObject> {
  readonly labels: readonly string[]
  readonly indexers: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>>
}

type Index<T> = Map<string, Set<T>>

/** Objects by key, by namespace, by the values of some labels and by what indexers say. Objects are never changed. */
export class Indexer<T extends ApiObject> {
  readonly objects = new Map<string, T>()
  readonly #namespaces: Index<T> = new Map()
  readonly #labels: ReadonlyMap<string, Index<T>>
  readonly #indexes: ReadonlyMap<string, Index<T>>
  readonly #indexers: MirrorOptions<T>['indexers']

  constructor(options: MirrorOptions<T>) {
    this.#labels = new Map(options.labels.map((label) => [label, new Map()]))
    this.#indexes = new Map(Object.keys(options.indexers).map((name) => [name, new Map()]))
    this.#indexers = options.indexers
  }

  /** Puts an object in; returns the one it takes the place of. */
  set(object: T): T | undefined {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before !== undefined) this.#forget(before)
    this.objects.set(key, object)
    for (const [index, value] of this.#places(object)) {
      const found = index.get(value)
      if (found === undefined) index.set(value, new Set([object]))
      else found.add(object)
    }
    return before
  }

  /** Takes out the object with the key of `object`. */
  delete(object: T): void {
    const key = keyOf(object)
    const before = this.objects.get(key)
    if (before === undefined) return
    this.#forget(before)
    this.objects.delete(key)
  }

  inNamespace(namespace: string): T[] {
    return [...(this.#namespaces.get(namespace) ?? [])]
  }

  /** @throws RangeError when the label is not one of those that were named. */
  withLabel(key: string, value: string): T[] {
    return valuesUnder(this.#labels, key, value)
  }

  /** @throws RangeError when there is no such indexer. */
  by(name: string, value: string): T[] {
    return valuesUnder(this.#indexes, name, value)
  }

  #forget(object: T): void {
    for (const [index, value] of this.#places(object)) {
      const found = index.get(value)
      found?.delete(object)
      if (found?.size === 0) index.delete(value)
    }
  }

  *#places(object: T): Generator<[index: Index<T>, value: string]> {
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

function valuesUnder<T>(indexes: ReadonlyMap<string, Index<T>>, name: string, value: string): T[] {
  const index = indexes.get(name)
  if (index === undefined) throw new RangeError(`there is no index ${JSON.stringify(name)}`)
  return [...(index.get(value) ?? [])]
}
