import type { Informer } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/** An index of the objects of an informer, kept up to date by its events. */
export class ObjectIndex<T extends ApiObject> {
  readonly #objects = new Map<string, Map<string, DeepReadonly<T>>>()
  readonly #valuesOf: (object: DeepReadonly<T>) => readonly string[]

  constructor(informer: Informer<T>, valuesOf: (object: DeepReadonly<T>) => readonly string[]) {
    this.#valuesOf = valuesOf
    informer.on({
      added: (object) => this.#add(object),
      updated: (object, previous) => {
        this.#remove(previous)
        this.#add(object)
      },
      deleted: (object) => this.#remove(object),
    })
  }

  /** Returns the objects with a value, in the order in which they got it. */
  get(value: string): readonly DeepReadonly<T>[] {
    return [...(this.#objects.get(value)?.values() ?? [])]
  }

  #add(object: DeepReadonly<T>): void {
    const key = keyOf(object)
    for (const value of this.#valuesOf(object)) {
      const found = this.#objects.get(value)
      if (found === undefined) this.#objects.set(value, new Map([[key, object]]))
      else found.set(key, object)
    }
  }

  #remove(object: DeepReadonly<T>): void {
    const key = keyOf(object)
    for (const value of this.#valuesOf(object)) {
      const found = this.#objects.get(value)
      found?.delete(key)
      if (found?.size === 0) this.#objects.delete(value)
    }
  }
}

function keyOf({ metadata }: DeepReadonly<ApiObject>): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}
