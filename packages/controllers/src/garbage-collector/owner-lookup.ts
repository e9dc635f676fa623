import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { foregroundFinalizer } from './graph.ts'
import type { LiveObjects } from './live-objects.ts'
import type { Identity } from './node.ts'

type Reference = DeepReadonly<OwnerReference>

/** The owner references of an object, grouped by the state of the owner. */
export interface SortedReferences {
  /** Owners that exist. */
  readonly solid: readonly Reference[]
  /** Owners that are deleted, or whose uid differs. */
  readonly dangling: readonly Reference[]
  /** Owners in foreground deletion. */
  readonly waiting: readonly Reference[]
}

/** Size of the cache of absent owners. */
const absentCacheBytes = 1024 * 1024

/** Looks up owners on the server. Caches absent owners, because a uid is never reused. */
export class OwnerLookup {
  readonly #objects: LiveObjects
  /** Keyed by all coordinates, because a reference to the same uid with other coordinates may be valid. */
  readonly #absent = new ByteBoundedCache<true>({ maxBytes: absentCacheBytes })

  constructor(objects: LiveObjects) {
    this.#objects = objects
  }

  /** Records that an object was deleted. */
  noteDeleted(uid: string, identity: Identity): void {
    this.#absent.set(keyOf({ ...identity, uid }, identity.namespace), true)
  }

  /**
   * Groups owner references by the state of their owners.
   *
   * @returns undefined when a cluster-scoped object names a namespaced owner, whose namespace is unknown
   * @throws ControllersError `UnknownKind` for an owner of a kind that is not served
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
