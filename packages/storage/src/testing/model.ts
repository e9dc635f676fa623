/** A reference model: the list of all writes. Results of a store are compared with it. */
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

  /** The state of a prefix at a revision, sorted by key and formatted as `key=value@revision`. */
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

  /** The events of a prefix after one revision, up to and including another. */
  events(after: Revision, prefix: string, through: Revision = this.revision): string[] {
    return this.#writes
      .filter(({ key, revision }) => revision > after && revision <= through && key.startsWith(prefix))
      .map(({ type, key, value, revision }) => `${type} ${key}=${value}@${revision}`)
  }
}
