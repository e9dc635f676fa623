import type { DeepReadonly, OwnerReference } from '@krmkit/meta'

type Reference = DeepReadonly<OwnerReference>

/** Where an object is. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** An object as the collector sees it: an owner, owned, or both. */
export class Node {
  readonly uid: string
  identity: Identity
  /** Known by a reference of a dependent only: the object itself was not seen yet. */
  isVirtual: boolean
  owners: readonly Reference[] = []
  isBeingDeleted = false
  /** Waits for its dependents to go: it has the finalizer of foreground deletion. */
  isDeletingDependents = false
  /** Waits for its dependents to be released: it has the finalizer of orphaning. */
  isOrphaning = false
  readonly dependents = new Set<Node>()

  constructor(uid: string, identity: Identity, isVirtual: boolean) {
    this.uid = uid
    this.identity = identity
    this.isVirtual = isVirtual
  }

  /** Dependents whose reference says that this object must outlive them. */
  blockingDependents(): Node[] {
    return [...this.dependents].filter(({ owners }) =>
      owners.some(({ uid, blockOwnerDeletion }) => uid === this.uid && blockOwnerDeletion === true),
    )
  }
}
