/** A store as simple as can be: the list of all writes. What a real store answers is compared with this. */
import type { Revision } from '../interfaces.ts'

export interface ModelWrite {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: Revision
  readonly value: string
}

export class Model {
  readonly start: Revision
  readonly #writes: ModelWrite[] = []

  constructor(start: Revision) {
    this.start = start
  }

  get revision(): Revision {
    return this.start + this.#writes.length
  }

  add(write: ModelWrite): void {
    if (write.revision !== this.revision + 1) throw new Error(`Unique: revision ${write.revision} came after ${this.revision}`)
    this.#writes.push(write)
  }

  /** What each key held at a revision, sorted by key; `key=value@revision`. */
  stateAt(at: Revision, prefix: string): { readonly key: string; readonly shown: string; readonly revision: Revision }[] {
    const state = new Map<string, ModelWrite>()
    for (const write of this.#writes) {
      if (write.revision > at) break
      if (write.type === 'put') state.set(write.key, write)
      else state.delete(write.key)
    }
    return [...state.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key, value, revision }) => ({ key, revision, shown: `${key}=${value}@${revision}` }))
  }

  /** What a watcher of the prefix must hear after one revision and up to another. */
  events(after: Revision, prefix: string, through: Revision = this.revision): string[] {
    return this.#writes
      .filter(({ key, revision }) => revision > after && revision <= through && key.startsWith(prefix))
      .map(({ type, key, value, revision }) => `${type} ${key}=${value}@${revision}`)
  }
}
