import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { foregroundFinalizer } from './graph.ts'
import type { LiveObjects } from './live-objects.ts'

type Reference = DeepReadonly<OwnerReference>

/** References of one object by what became of their owners. */
export interface SortedReferences {
  /** Owners that are there. */
  readonly solid: readonly Reference[]
  /** Owners that are not, or are other objects. */
  readonly dangling: readonly Reference[]
  /** Owners that wait for their dependents to be deleted. */
  readonly waiting: readonly Reference[]
}

/** So many owners that are known to be gone are remembered. */
const rememberedAbsent = 500

/** Looks owners up on the server. Those that are gone stay gone, for a uid is never used again: they are remembered. */
export class OwnerLookup {
  readonly #objects: LiveObjects
  readonly #absent = new Set<string>()

  constructor(objects: LiveObjects) {
    this.#objects = objects
  }

  /**
   * @returns nothing when a cluster-scoped object names an owner that lives in a namespace: which one it means cannot be
   *   known, so the object is left alone.
   * @throws ControllersError `UnknownKind` when the server does not know what an owner is.
   */
  async sort(references: readonly Reference[], namespace: string): Promise<SortedReferences | undefined> {
    const solid: Reference[] = []
    const dangling: Reference[] = []
    const waiting: Reference[] = []
    for (const reference of references) {
      const { apiVersion, kind, name, uid } = reference
      const { namespaced } = await this.#objects.resourceOf(reference)
      if (namespaced && namespace === '') return undefined
      const key = JSON.stringify([uid, apiVersion, kind, name, namespaced ? namespace : ''])
      if (this.#absent.has(key)) {
        dangling.push(reference)
        continue
      }
      const owner = await this.#objects.get({ apiVersion, kind, name, namespace: namespaced ? namespace : '' })
      if (owner === undefined || owner.metadata.uid !== uid) {
        this.#remember(key)
        dangling.push(reference)
      } else if (owner.metadata.deletionTimestamp !== undefined && owner.metadata.finalizers?.includes(foregroundFinalizer)) {
        waiting.push(reference)
      } else solid.push(reference)
    }
    return { solid, dangling, waiting }
  }

  #remember(key: string): void {
    if (this.#absent.size >= rememberedAbsent) {
      const oldest = this.#absent.values().next()
      if (!oldest.done) this.#absent.delete(oldest.value)
    }
    this.#absent.add(key)
  }
}
