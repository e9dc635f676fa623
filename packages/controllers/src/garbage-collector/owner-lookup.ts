import { ByteBoundedCache, type DeepReadonly, type OwnerReference } from '@krmkit/meta'
import { foregroundFinalizer } from './graph.ts'
import type { LiveObjects } from './live-objects.ts'
import type { Identity } from './node.ts'

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

/** Bytes of the owners that are known to be gone and are remembered. */
const rememberedBytes = 1024 * 1024

/** Looks owners up on the server. Those that are gone stay gone, for a uid is never used again: they are remembered. */
export class OwnerLookup {
  readonly #objects: LiveObjects
  /** In all their parts: the same uid may be named rightly elsewhere. */
  readonly #absent = new ByteBoundedCache<true>({ maxBytes: rememberedBytes })

  constructor(objects: LiveObjects) {
    this.#objects = objects
  }

  /** The end of this object was seen. */
  gone(uid: string, identity: Identity): void {
    this.#absent.set(keyOf({ ...identity, uid }, identity.namespace), true)
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
      if (this.#isAbsent(reference, '') || this.#isAbsent(reference, namespace)) {
        dangling.push(reference)
        continue
      }
      const { namespaced } = await this.#objects.resourceOf(reference)
      if (namespaced && namespace === '') return undefined
      const place = namespaced ? namespace : ''
      const owner = await this.#objects.get({ apiVersion, kind, name, namespace: place })
      if (owner === undefined || owner.metadata.uid !== uid) {
        this.#absent.set(keyOf(reference, place), true)
        dangling.push(reference)
      } else if (owner.metadata.deletionTimestamp !== undefined && owner.metadata.finalizers?.includes(foregroundFinalizer)) {
        waiting.push(reference)
      } else solid.push(reference)
    }
    return { solid, dangling, waiting }
  }

  #isAbsent(reference: Reference, namespace: string): boolean {
    return this.#absent.get(keyOf(reference, namespace)) !== undefined
  }
}

function keyOf({ uid, apiVersion, kind, name }: Omit<Reference, 'controller' | 'blockOwnerDeletion'>, namespace: string): string {
  return JSON.stringify([uid, apiVersion, kind, name, namespace])
}
