import type { RequestInfo } from '../request-info.ts'

interface Counts {
  total: number
  /** By `namespace/name`; the empty namespace stands for all, the empty name for every object. */
  readonly scopes: Map<string, number>
}

/** What a watch sees, or a write changes. */
export type WatchScope = Pick<RequestInfo, 'group' | 'resource' | 'namespace' | 'name'>

/** How many watches there are of which collections: writes concern them. */
export class WatchCounts {
  readonly #resources = new Map<string, Counts>()

  /** Counts a watch that is being served. @returns what ends that. */
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

  /** How many watches may see what a write to this object changes. */
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
