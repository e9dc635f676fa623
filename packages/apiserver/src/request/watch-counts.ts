import type { RequestInfo } from './info.ts'

interface Counts {
  total: number
  /** Counts by `namespace/name`; an empty namespace means all namespaces, an empty name all objects. */
  readonly scopes: Map<string, number>
}

/** The objects that a watch selects or a write changes. */
export type WatchScope = Pick<RequestInfo, 'group' | 'resource' | 'namespace' | 'name'>

/** Counts active watches by resource and scope, to estimate the cost of writes. */
export class WatchCounts {
  readonly #resources = new Map<string, Counts>()

  /** Adds a watch. @returns a function that removes it. */
  register({ group, resource, namespace, name }: WatchScope): () => void {
    const key = `${resource}.${group}`
    const scope = `${namespace}/${name}`
    const counts = this.#resources.get(key) ?? { total: 0, scopes: new Map() }
    this.#resources.set(key, counts)
    counts.total++
    counts.scopes.set(scope, (counts.scopes.get(scope) ?? 0) + 1)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      counts.total--
      const left = (counts.scopes.get(scope) ?? 1) - 1
      if (left === 0) counts.scopes.delete(scope)
      else counts.scopes.set(scope, left)
      if (counts.total === 0) this.#resources.delete(key)
    }
  }

  /** Number of watches that may receive an event of a write to this object. */
  of({ group, resource, namespace, name }: WatchScope): number {
    if (this.#resources.size === 0) return 0
    const scopes = this.#resources.get(`${resource}.${group}`)?.scopes
    if (scopes === undefined) return 0
    let count = scopes.get('/') ?? 0
    if (namespace !== '') count += scopes.get(`${namespace}/`) ?? 0
    if (name !== '') {
      count += scopes.get(`/${name}`) ?? 0
      if (namespace !== '') count += scopes.get(`${namespace}/${name}`) ?? 0
    }
    return count
  }
}
