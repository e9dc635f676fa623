import { apiVersionOf } from '@krmkit/client'
import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import type { DiscoveredResource } from '../framework/discovery.ts'
import type { Metadata } from '../framework/monitors.ts'
import { type Identity, Node } from './node.ts'

type Reference = DeepReadonly<OwnerReference>

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** Work that changes of the graph cause. */
export interface GraphCallbacks {
  /** Checks whether an object must be deleted. */
  attemptToDelete(node: Node): void
  /** Releases the dependents of an object. */
  attemptToOrphan(node: Node): void
  /** Returns the object that a reference from a namespace names, if the object is known and its uid matches. */
  lookUp(reference: Reference, namespace: string): Identity | undefined
  /** Reports a reference to an object of another namespace. */
  wrongNamespace(dependent: Node, reference: Reference): void
}

/**
 * The ownership graph, by uid. Holds only objects that own, are owned, or are being deleted with a garbage collection
 * finalizer; other objects take no memory.
 *
 *     add a                        no nodes: a neither owns nor is owned
 *     add b owned by a             nodes a, b; a.dependents = {b}
 *     delete a                     node b; attemptToDelete(b)
 *     b loses its reference to a   no nodes
 */
export class Graph {
  readonly #nodes = new Map<string, Node>()
  readonly #work: GraphCallbacks

  constructor(work: GraphCallbacks) {
    this.#work = work
  }

  /** Number of nodes. */
  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  /** Updates the graph after an object was added or changed. */
  update(resource: DiscoveredResource, object: Metadata): void {
    const { uid = '', ownerReferences = [], finalizers = [], deletionTimestamp } = object.metadata
    const isBeingDeleted = deletionTimestamp !== undefined
    const isOrphaning = isBeingDeleted && finalizers.includes(orphanFinalizer)
    const isDeletingDependents = isBeingDeleted && finalizers.includes(foregroundFinalizer)
    let node = this.#nodes.get(uid)
    if (node === undefined) {
      if (ownerReferences.length === 0 && !isOrphaning && !isDeletingDependents) return
      node = new Node(uid, identityOf(resource, object), false)
      this.#nodes.set(uid, node)
    } else if (node.isVirtual) this.#observe(node, identityOf(resource, object))
    this.#changeOwners(node, ownerReferences)
    node.isBeingDeleted = isBeingDeleted
    const beginsOrphaning = isOrphaning && !node.isOrphaning
    const beginsDeleting = isDeletingDependents && !node.isDeletingDependents
    node.isOrphaning = isOrphaning
    node.isDeletingDependents ||= isDeletingDependents
    if (beginsOrphaning) this.#work.attemptToOrphan(node)
    if (beginsDeleting) {
      for (const dependent of node.dependents) this.#work.attemptToDelete(dependent)
      this.#work.attemptToDelete(node)
    }
    this.#removeIfUnneeded(node)
  }

  /** Removes a deleted object, then processes its dependents and the owners that waited for its deletion. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    this.#nodes.delete(uid)
    for (const dependent of node.dependents) this.#work.attemptToDelete(dependent)
    for (const { uid: ownerUid } of node.owners) {
      const owner = this.#nodes.get(ownerUid)
      if (owner === undefined) continue
      owner.dependents.delete(node)
      if (owner.isDeletingDependents) this.#work.attemptToDelete(owner)
      this.#removeIfUnneeded(owner)
    }
  }

  /**
   * Processes the dependents of an owner that is known only by references and does not exist under `identity`. References with other
   * coordinates are verified next; without them the owner is dropped, so that a later dependent has it verified again.
   */
  removeAbsent(node: Node, identity: Identity): void {
    if (this.#nodes.get(node.uid) !== node || !node.isVirtual) return
    node.identity = identity
    for (const dependent of node.dependents) {
      if (!dependent.owners.some((reference) => reference.uid === node.uid && refersTo(reference, dependent, node))) continue
      node.dependents.delete(dependent)
      this.#work.attemptToDelete(dependent)
    }
    const [other] = node.dependents
    const reference = other?.owners.find(({ uid }) => uid === node.uid)
    if (other === undefined || reference === undefined) {
      this.#nodes.delete(node.uid)
      return
    }
    const { apiVersion, kind, name } = reference
    node.identity = { apiVersion, kind, name, namespace: other.identity.namespace }
    this.#work.attemptToDelete(node)
  }

  #observe(node: Node, identity: Identity): void {
    node.isVirtual = false
    node.identity = identity
    // References with wrong coordinates do not make an object a dependent.
    for (const dependent of node.dependents)
      for (const reference of dependent.owners)
        if (reference.uid === node.uid && !refersTo(reference, dependent, node)) this.#rejectReference(reference, dependent, node)
  }

  #changeOwners(node: Node, references: readonly Reference[]): void {
    const before = node.owners
    if (before === references || (before.length === 0 && references.length === 0)) return
    node.owners = references
    const now = new Map(references.map((reference) => [reference.uid, reference]))
    const had = new Map(before.map((reference) => [reference.uid, reference]))
    for (const [uid, reference] of had) {
      const owner = this.#nodes.get(uid)
      if (owner === undefined) continue
      const next = now.get(uid)
      const unblocked = reference.blockOwnerDeletion === true && next?.blockOwnerDeletion !== true
      if (next === undefined) owner.dependents.delete(node)
      if (unblocked && owner.isDeletingDependents) this.#work.attemptToDelete(owner)
      if (next === undefined) this.#removeIfUnneeded(owner)
    }
    for (const [uid, reference] of now) if (!had.has(uid)) this.#addOwner(node, reference)
    // A reference to the same uid may become valid or invalid when its coordinates change.
    for (const [uid, reference] of now) {
      const old = had.get(uid)
      if (old !== undefined && !sameCoordinates(old, reference)) this.#work.attemptToDelete(node)
    }
  }

  #addOwner(node: Node, reference: Reference): void {
    let owner = this.#nodes.get(reference.uid)
    if (owner === undefined) {
      const { apiVersion, kind, name } = reference
      const { namespace } = node.identity
      const known = this.#work.lookUp(reference, namespace)
      owner = new Node(reference.uid, known ?? { apiVersion, kind, name, namespace }, known === undefined)
      this.#nodes.set(reference.uid, owner)
      if (owner.isVirtual) this.#work.attemptToDelete(owner)
    } else if (!refersTo(reference, node, owner)) this.#rejectReference(reference, node, owner)
    else if (owner.isDeletingDependents) this.#work.attemptToDelete(node)
    owner.dependents.add(node)
  }

  /**
   * Handles a reference whose coordinates do not match the owner with that uid. The dependent is verified against the
   * server.
   */
  #rejectReference(reference: Reference, dependent: Node, { identity, isVirtual }: Node): void {
    const isElsewhere = identity.namespace !== '' && identity.namespace !== dependent.identity.namespace
    if (isElsewhere && !isVirtual) this.#work.wrongNamespace(dependent, reference)
    this.#work.attemptToDelete(dependent)
  }

  #removeIfUnneeded(node: Node): void {
    if (node.owners.length > 0 || node.dependents.size > 0) return
    if (!node.isVirtual && (node.isDeletingDependents || node.isOrphaning)) return
    if (this.#nodes.get(node.uid) === node) this.#nodes.delete(node.uid)
  }
}

export function identityOf(resource: DiscoveredResource, { metadata }: Metadata): Identity {
  const { name = '', namespace = '' } = metadata
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name }
}

/** Whether the coordinates of a reference match the object with its uid. Versions of a group are equivalent. */
function refersTo(reference: Reference, dependent: Node, { identity }: Node): boolean {
  return (
    reference.kind === identity.kind &&
    reference.name === identity.name &&
    groupOf(reference.apiVersion) === groupOf(identity.apiVersion) &&
    (identity.namespace === '' || identity.namespace === dependent.identity.namespace)
  )
}

function sameCoordinates(a: Reference, b: Reference): boolean {
  return a.kind === b.kind && a.name === b.name && a.apiVersion === b.apiVersion
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
