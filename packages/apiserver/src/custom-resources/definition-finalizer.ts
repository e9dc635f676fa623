import { Pace } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '@krmkit/kinds/apiextensions/v1'
import { cleanupFinalizer, setDefinitionCondition } from '@krmkit/kinds/custom-resources'
import { ApiError, type Clock, type DeepReadonly, formatTime } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import { type Following, type FrozenObject, type Registry, type ResourceStore, serverContext } from '@krmkit/registry'
import { SerialQueue } from './serial-queue.ts'

/**
 * Deletes the instances of definitions that are being deleted, and then the finalizer of the definition. Each definition has a queue,
 * because the deletion of an instance may wait for a conversion webhook.
 */

type Definition = DeepReadonly<CustomResourceDefinition>

export interface DefinitionFinalizerOptions {
  readonly registry: Registry
  readonly clock: Clock
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
  /** The resources of all versions of an established definition. */
  readonly resourcesOf: (definition: Definition) => readonly ResourceDefinition[]
  /** Stores a change of a definition, unless it is gone. */
  readonly update: (definition: Definition, change: (current: Definition) => Definition) => Promise<void>
}

/** Delay before the next attempt to delete instances that could not be deleted: it doubles after each failure, up to the maximum. */
const [firstRetryMs, maxRetryMs] = [5, 1_000_000]

/** The deletion of one definition. */
interface Finalization {
  definition: Definition
  readonly queue: SerialQueue
  /** Instances whose deletion has not begun, by namespace and name. */
  readonly live: Map<string, { readonly namespace: string; readonly name: string }>
  following?: Following
  /** Whether a run is queued that has not started. */
  isPending: boolean
  isOver: boolean
  retryMs: number
  cancelRetry?: () => void
}

export class DefinitionFinalizer {
  readonly #options: DefinitionFinalizerOptions
  readonly #finalizations = new Map<string, Finalization>()

  constructor(options: DefinitionFinalizerOptions) {
    this.#options = options
  }

  /** Starts the deletion of the instances, or tries again those that could not be deleted. Does not wait for the deletion. */
  finalize(definition: Definition): void {
    const { name = '', uid } = definition.metadata
    if (this.#finalizations.get(name)?.definition.metadata.uid !== uid) this.forget(name)
    let work = this.#finalizations.get(name)
    if (work === undefined) {
      const queue = new SerialQueue(this.#options)
      work = { definition, queue, live: new Map(), isPending: false, isOver: false, retryMs: firstRetryMs }
      this.#finalizations.set(name, work)
    }
    work.definition = definition
    this.#enqueue(work)
  }

  /** Ends the work for a definition that no longer exists. */
  forget(name: string): void {
    const work = this.#finalizations.get(name)
    if (work === undefined) return
    work.isOver = true
    work.following?.close()
    work.cancelRetry?.()
    this.#finalizations.delete(name)
  }

  close(): void {
    for (const name of [...this.#finalizations.keys()]) this.forget(name)
  }

  #enqueue(work: Finalization): void {
    if (work.isPending) return
    work.isPending = true
    work.cancelRetry?.()
    work.queue.add(async () => {
      work.isPending = false
      if (!work.isOver) await this.#run(work)
    })
  }

  async #run(work: Finalization): Promise<void> {
    const { registry, clock, update } = this.#options
    const { definition } = work
    const { group, names } = definition.spec
    const stored = this.#storedResource(definition)
    const instances = registry.collection(stored?.storage ?? { group, resource: names.plural })
    const now = () => formatTime(clock.now())
    if (work.following === undefined) {
      await update(definition, (current) =>
        terminating(current, now(), 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
      )
      await this.#follow(work, instances)
    }
    const failures = stored === undefined ? new Map() : await this.#deleteInstances(work, registry.store(stored))
    if (work.isOver) return
    if (failures.size > 0) {
      const message = `could not issue all deletes: ${aggregateMessages(failures.values())}`
      await update(definition, (current) => terminating(current, now(), 'InstanceDeletionFailed', message))
      work.cancelRetry = clock.setTimeout(() => this.#enqueue(work), work.retryMs)
      work.retryMs = Math.min(2 * work.retryMs, maxRetryMs)
      return
    }
    if (instances.count() > 0) return
    await update(definition, (current) => {
      const done = terminating(current, now(), 'InstanceDeletionCompleted', 'removed all instances', 'False')
      const finalizers = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
      return { ...done, metadata: { ...done.metadata, finalizers } }
    })
  }

  /** The resource at the storage version: most instances need no conversion to it. */
  #storedResource(definition: Definition): ResourceDefinition | undefined {
    const resources = this.#options.resourcesOf({ ...definition, status: asEstablished(definition.status) })
    const stored = (definition.spec.versions ?? []).find(({ storage }) => storage)
    return resources.find(({ kind }) => kind.version === stored?.name) ?? resources[0]
  }

  async #follow(work: Finalization, instances: ReturnType<Registry['collection']>): Promise<void> {
    const { closing, onError } = this.#options
    const take = ({ metadata }: FrozenObject, removed: boolean) => {
      const { namespace = '', name = '', deletionTimestamp } = metadata
      const key = `${namespace}/${name}`
      if (removed || deletionTimestamp !== undefined) work.live.delete(key)
      else work.live.set(key, { namespace, name })
      if (removed && instances.count() === 0) this.#enqueue(work)
    }
    const sink = { put: (object: FrozenObject) => take(object, false), remove: (object: FrozenObject) => take(object, true) }
    const following = await instances.follow({ ...sink, clear: () => work.live.clear() }, { signal: closing, onError })
    if (work.isOver) following.close()
    else work.following = following
  }

  /**
   * Deletes the instances. An instance that cannot be deleted, for example because its conversion fails, does not stop the others.
   *
   * @returns one message for each namespace that has instances that could not be deleted.
   */
  async #deleteInstances({ live }: Finalization, store: ResourceStore): Promise<ReadonlyMap<string, string>> {
    const { registry, closing, onError } = this.#options
    const context = serverContext(closing)
    const pace = new Pace(registry.turns)
    const failures = new Map<string, string>()
    for (const { namespace, name } of [...live.values()]) {
      if (closing.aborted) break
      if (pace.due(true)) await pace.next()
      try {
        await store.delete(context, { namespace, name, options: {} })
      } catch (error) {
        if (closing.aborted || (ApiError.is(error) && error.reason === 'NotFound')) continue
        onError(error)
        if (!failures.has(namespace)) failures.set(namespace, error instanceof Error ? error.message : String(error))
      }
    }
    return failures
  }
}

/** The status with the condition Established, for a definition that was deleted before its names were accepted. */
function asEstablished(status: Definition['status']): DeepReadonly<CustomResourceDefinitionStatus> {
  return { ...status, conditions: [...(status?.conditions ?? []), { type: 'Established', status: 'True' }] }
}

function terminating(
  definition: Definition,
  now: string,
  reason: string,
  message: string,
  status: 'True' | 'False' = 'True',
): Definition {
  const conditions = setDefinitionCondition(definition.status?.conditions ?? [], {
    type: 'Terminating',
    status,
    lastTransitionTime: now,
    reason,
    message,
  })
  return { ...definition, status: { ...definition.status, conditions } }
}
