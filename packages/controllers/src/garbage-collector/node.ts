import type { DeepReadonly, OwnerReference } from '@krmkit/meta'

type Reference = DeepReadonly<OwnerReference>

/** The coordinates of an object. */
export interface Identity {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

/** An object in the ownership graph. */
export class Node {
  readonly uid: string
  identity: Identity
  /** Whether the object is known only from owner references of its dependents. */
  isVirtual: boolean
  owners: readonly Reference[] = []
  isBeingDeleted = false
  /** In foreground deletion: has the `foregroundDeletion` finalizer and waits for its dependents. */
  isDeletingDependents = false
  /** Being deleted with the `orphan` finalizer: its dependents must be released. */
  isOrphaning = false
  readonly dependents = new Set<Node>()

  constructor(uid: string, identity: Identity, isVirtual: boolean) {
    this.uid = uid
    this.identity = identity
    this.isVirtual = isVirtual
  }

  /** Returns the dependents whose references block the deletion of this object. */
  blockingDependents(): Node[] {
    return [...this.dependents].filter(({ owners }) =>
      owners.some(({ uid, blockOwnerDeletion }) => uid === this.uid && blockOwnerDeletion === true),
    )
  }
}
