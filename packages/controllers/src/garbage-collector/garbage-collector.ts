import { apiVersionOf } from '@krmkit/client'
import type { ApiObject, DeepReadonly, OwnerReference } from '@krmkit/meta'
import { ObjectEvents } from '../events/object-events.ts'
import type { Discovery } from '../framework/discovery.ts'
import { yieldTurns } from '../framework/idle-tracker.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { foregroundFinalizer, Graph, identityOf, orphanFinalizer } from './graph.ts'
import { LiveObjects } from './live-objects.ts'
import type { Identity, Node } from './node.ts'
import { OwnerLookup } from './owner-lookup.ts'

type Reference = DeepReadonly<OwnerReference>

/** Deletes or releases objects whose owners are deleted or being deleted. @see API protocol specification, 2.2 and 4.1 */
export const garbageCollector: Controller = {
  name: 'garbage-collector-controller',
  start: (context) => new GarbageCollector(context),
}

/**
 * Monitors the metadata of all objects. The graph selects the objects to process; the live state of an object decides what
 * is done with it.
 *
 *     owner gone                -> dependents: deleted, or released when another owner is left
 *     owner deleted, foreground -> dependents deleted first; the finalizer is removed when none blocks
 *     owner deleted, orphan     -> dependents released; then the finalizer is removed
 */
class GarbageCollector implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #graph: Graph
  readonly #objects: LiveObjects
  readonly #owners: OwnerLookup
  readonly #events: ObjectEvents<ApiObject>
  readonly #attemptToDeleteLater: (node: Node) => void
  readonly #unsubscribe: () => void
  #discovered: Discovery | undefined
  /** Work deferred until all collections are listed, because some dependents may be unknown before. */
  #deferred: (() => void)[] = []

  constructor(context: ControllerContext) {
    const { metadata, monitors, fieldManager, signal } = context
    this.#context = context
    this.#objects = new LiveObjects({ client: metadata, monitors, fieldManager, signal })
    this.#owners = new OwnerLookup(this.#objects)
    this.#events = new ObjectEvents<ApiObject>(context, undefined, garbageCollector.name)
    const considered = context.queue<Node>({ sync: (node) => this.#attemptToDelete(node) })
    const orphaning = context.queue<Node>({ sync: (node) => this.#attemptToOrphan(node) })
    const whenReady = (work: () => void) => {
      if (monitors.isReady) work()
      else this.#deferred.push(work)
    }
    this.#attemptToDeleteLater = (node) => whenReady(() => considered.add(node))
    this.#graph = new Graph({
      attemptToDelete: this.#attemptToDeleteLater,
      attemptToOrphan: (node) => whenReady(() => orphaning.add(node)),
      lookUp: (reference, namespace) => this.#lookUp(reference, namespace),
      wrongNamespace: (dependent, reference) => this.#reportNamespace(dependent, reference),
    })
    this.#unsubscribe = monitors.on({
      added: (resource, object) => this.#graph.update(resource, object),
      updated: (resource, object) => this.#graph.update(resource, object),
      deleted: (resource, object) => {
        const { uid = '' } = object.metadata
        if (this.#graph.get(uid) !== undefined) this.#owners.noteDeleted(uid, identityOf(resource, object))
        this.#graph.remove(uid)
      },
      dropped: (_, { metadata: { uid = '' } }) => this.#graph.remove(uid),
      discovered: (discovered) => {
        this.#discovered = discovered
      },
      ready: () => {
        const deferred = this.#deferred
        this.#deferred = []
        for (const work of deferred) work()
      },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe()
  }

  /** Returns the object of a reference from the monitors. */
  #lookUp(reference: Reference, namespace: string): Identity | undefined {
    const resource = this.#discovered?.ofKind(reference.apiVersion, reference.kind)
    if (resource === undefined) return undefined
    const scope = resource.namespaced ? namespace : ''
    const found = this.#context.monitors.of(resource)?.get(reference.name, scope)
    if (found === undefined || found.metadata.uid !== reference.uid) return undefined
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, name: reference.name, namespace: scope }
  }

  #reportNamespace({ identity, uid }: Node, { apiVersion, kind, name, uid: ownerUid }: Reference): void {
    const { namespace } = identity
    const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${ownerUid}]`
    const message = `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`
    const metadata = { name: identity.name, namespace, uid }
    this.#events.warning({ apiVersion: identity.apiVersion, kind: identity.kind, metadata }, 'OwnerRefInvalidNamespace', message)
  }

  async #attemptToDelete(node: Node): Promise<RequeueAfter | undefined> {
    if (this.#graph.get(node.uid) !== node) return undefined
    if (node.isVirtual) return this.#verifyVirtualNode(node)
    if (node.isBeingDeleted && !node.isDeletingDependents) return undefined
    const live = await this.#objects.get(node.identity)
    if (live === undefined || live.metadata.uid !== node.uid) {
      this.#graph.remove(node.uid)
      return undefined
    }
    if (node.isDeletingDependents) {
      await this.#deleteDependents(node)
      return undefined
    }
    const { ownerReferences = [], resourceVersion = '', finalizers = [] } = live.metadata
    if (ownerReferences.length === 0) return undefined
    const sorted = await this.#owners.sort(ownerReferences, node.identity.namespace)
    if (sorted === undefined) return undefined
    const { solid, dangling, waiting } = sorted
    const preconditions = { uid: node.uid, resourceVersion }
    if (solid.length > 0) await this.#release(node, [...dangling, ...waiting])
    else if (waiting.length > 0 && node.dependents.size > 0) {
      // Unblocked, because in a cycle of foreground deletions every object would wait for itself.
      if ([...node.dependents].some((dependent) => dependent.isDeletingDependents)) await this.#unblock(node)
      await this.#objects.delete(node.identity, { uid: node.uid, policy: 'Foreground' })
    } else {
      const policy = finalizers.includes(orphanFinalizer)
        ? 'Orphan'
        : finalizers.includes(foregroundFinalizer)
          ? 'Foreground'
          : 'Background'
      await this.#objects.delete(node.identity, { ...preconditions, policy })
    }
    return undefined
  }

  /** Checks whether an owner exists that is known only by references. */
  async #verifyVirtualNode(node: Node): Promise<RequeueAfter | undefined> {
    const { namespaced } = await this.#objects.resourceOf(node.identity)
    const identity = namespaced ? node.identity : { ...node.identity, namespace: '' }
    const live = namespaced && identity.namespace === '' ? undefined : await this.#objects.get(identity)
    if (!node.isVirtual) return undefined
    if (live?.metadata.uid === node.uid) return { requeueAfterMs: virtualNodeRetryMs }
    this.#graph.removeAbsent(node, identity)
    return undefined
  }

  /**
   * Deletes the dependents of an object in foreground deletion, and removes its finalizer when no dependent blocks the
   * deletion.
   */
  async #deleteDependents(node: Node): Promise<void> {
    await yieldTurns(dependentTurns)
    const blocking = node.blockingDependents()
    if (blocking.length === 0) await this.#removeFinalizer(node, foregroundFinalizer)
    for (const dependent of blocking) if (!dependent.isDeletingDependents) this.#attemptToDeleteLater(dependent)
  }

  async #attemptToOrphan(node: Node): Promise<undefined> {
    await yieldTurns(dependentTurns)
    const dependents = [...node.dependents].values()
    const releaseOthers = async () => {
      for (const dependent of dependents) await this.#release(dependent, [{ uid: node.uid }])
    }
    await Promise.all(Array.from({ length: releasedAtOnce }, releaseOthers))
    await this.#removeFinalizer(node, orphanFinalizer)
    return undefined
  }

  /** Removes owner references from an object. */
  async #release(node: Node, references: readonly Pick<Reference, 'uid'>[]): Promise<void> {
    const uids = new Set(references.map(({ uid }) => uid))
    if (uids.size === 0) return
    await this.#objects.change(node.identity, node.uid, ({ ownerReferences = [] }) => {
      const kept = ownerReferences.filter(({ uid }) => !uids.has(uid))
      return kept.length === ownerReferences.length ? undefined : { ownerReferences: kept }
    })
  }

  /** Clears blockOwnerDeletion in the owner references of an object. */
  async #unblock(node: Node): Promise<void> {
    await this.#objects.change(node.identity, node.uid, ({ ownerReferences = [] }) => {
      if (!ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) return undefined
      return { ownerReferences: ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false })) }
    })
  }

  async #removeFinalizer(node: Node, finalizer: string): Promise<void> {
    await this.#objects.change(node.identity, node.uid, ({ finalizers = [] }) => {
      const kept = finalizers.filter((each) => each !== finalizer)
      return kept.length === finalizers.length ? undefined : { finalizers: kept }
    })
  }
}

/** Delay before an existing owner that is not in the graph yet is checked again. */
const virtualNodeRetryMs = 5_000
/**
 * Maximum number of dependents of one object that are released concurrently. Without a limit, all requests would start in
 * one turn.
 */
const releasedAtOnce = 20
/**
 * Turns to wait for the events of dependents that were created just before the deletion of their owner: these events arrive
 * on another watch.
 */
const dependentTurns = 2
