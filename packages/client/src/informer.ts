import type { OptionKinds } from '@krmkit/base/arguments'
import { type ApiObject, type Clock, type DeepReadonly, type Random, systemClock, systemRandom } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { sourceOf } from './client.ts'
import { checkArguments, checkFunctions } from './client-options.ts'
import { Indexer, type IndexFunction } from './indexer.ts'
import type { Client, ResourceRef, SelectOptions } from './interfaces.ts'
import { reflect } from './reflector.ts'
import { differences, keyOf } from './watch.ts'

export interface InformerOptions<T extends ApiObject> extends Omit<SelectOptions, 'signal'> {
  /** Label keys to index, for `withLabel`. */
  readonly labels?: readonly string[]
  /** Custom indexes: functions that return the index values of an object. */
  readonly indexers?: Readonly<Record<string, IndexFunction<T>>>
  /** Reduces objects before they are stored, to save memory. Must not modify its argument, which may be shared. */
  readonly transform?: (object: T) => T
  /** Interval in milliseconds at which `updated` is called for every object. Default: never. */
  readonly resyncMs?: number
  /**
   * Called after each object; the informer waits for the promise, if any. This lets a program do other work while many
   * objects change. Default: never waits.
   */
  readonly pause?: () => Promise<void> | undefined
  readonly clock?: Clock
  readonly random?: Pick<Random, 'bytes'>
  /** Receives errors after which the informer continues: failed lists and watches, handlers that throw. */
  readonly onError?: (error: unknown) => void
}

const optionKinds: OptionKinds<InformerOptions<ApiObject>> = {
  namespace: 'text',
  labelSelector: 'text',
  fieldSelector: 'text',
  labels: 'texts',
  indexers: 'object',
  transform: 'function',
  resyncMs: 'number',
  pause: 'function',
  clock: 'object',
  random: 'object',
  onError: 'function',
}

/** Called synchronously, in the order of the changes. Errors are passed to `onError`. */
export interface InformerHandlers<T extends ApiObject> {
  added?(object: DeepReadonly<T>): void
  updated?(object: DeepReadonly<T>, previous: DeepReadonly<T>): void
  /** Called with the last known state. */
  deleted?(object: DeepReadonly<T>): void
}

/**
 * A local, continuously updated copy of a collection. Reads are synchronous and send no request. The informer lists again when its
 * resource version has expired, and retries with backoff while the server cannot be reached.
 */
export interface Informer<T extends ApiObject> extends AsyncDisposable {
  /** Resolves when the first list is stored and the handlers were called. Rejects if the informer is stopped before. */
  readonly synced: Promise<void>
  readonly hasSynced: boolean
  /** Resource version of the copy; empty before the first list. */
  readonly resourceVersion: string
  /** Returns an object; without a namespace, a cluster-scoped object. */
  get(name: string, namespace?: string): DeepReadonly<T> | undefined
  list(options?: { readonly namespace?: string; readonly labelSelector?: LabelSelector }): readonly DeepReadonly<T>[]
  /** Returns the objects with a label value. @throws RangeError for a label that is not in `labels` */
  withLabel(key: string, value: string): readonly DeepReadonly<T>[]
  /** Adds a custom index and indexes the objects already stored. Does nothing if an index of that name exists. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void
  /** Returns the objects with an index value. @throws RangeError for an index that is neither in `indexers` nor added */
  byIndex(index: string, value: string): readonly DeepReadonly<T>[]
  /** Adds handlers and calls `added` for the objects already stored. @returns a function that removes the handlers */
  on(handlers: InformerHandlers<T>): () => void
  stop(): Promise<void>
}

/**
 * Starts an informer.
 *
 * @example
 * import { Pod } from '@krmkit/kinds/core/v1'
 * import { createInformer, createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * const client = createRemoteClient(await loadKubeconfig())
 * await using pods = createInformer(client, Pod, { labels: ['app'] })
 * await pods.synced
 * console.log(pods.withLabel('app', 'shop').length)
 * @throws ClientError `InvalidRequest` for invalid arguments
 */
export function createInformer<T extends ApiObject>(
  client: Client,
  resource: ResourceRef<T>,
  options: InformerOptions<T> = {},
): Informer<T> {
  checkFunctions(client, ['listPages', 'watch'], 'createInformer needs a client')
  checkArguments(options, { what: 'createInformer', kinds: optionKinds, example: '{ namespace: "default" }' })
  return new ReflectorInformer(client, resource, options)
}

class ReflectorInformer<T extends ApiObject> implements Informer<T> {
  readonly synced: Promise<void>
  hasSynced = false
  resourceVersion = ''
  readonly #indexer: Indexer<T>
  readonly #handlers = new Set<InformerHandlers<T>>()
  readonly #stopping = new AbortController()
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #transform: (object: T) => T
  readonly #pause: () => Promise<void> | undefined
  readonly #running: Promise<void>
  #markSynced: () => void = () => undefined

  constructor(client: Client, resource: ResourceRef<T>, options: InformerOptions<T>) {
    const {
      clock = systemClock,
      random = systemRandom,
      onError = () => undefined,
      namespace,
      labelSelector,
      fieldSelector,
      transform = (object) => object,
      pause = () => undefined,
    } = options
    this.#indexer = new Indexer<T>({ labels: options.labels ?? [], indexers: options.indexers ?? {} })
    this.#clock = clock
    this.#onError = onError
    this.#transform = transform
    this.#pause = pause
    this.synced = new Promise((resolve, reject) => {
      this.#markSynced = resolve
      this.#stopping.signal.addEventListener('abort', () => reject(new Error('the informer was stopped before it synced')), {
        once: true,
      })
    })
    this.synced.catch(() => undefined)
    const selection = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    }
    const { signal } = this.#stopping
    const steps = reflect(sourceOf(client, resource, selection), { clock, random, signal, resourceVersion: undefined, onError })
    this.#running = this.#run(steps).catch(onError)
    if (options.resyncMs !== undefined) this.#resyncEvery(options.resyncMs)
  }

  get(name: string, namespace = ''): DeepReadonly<T> | undefined {
    return this.#indexer.objects.get(keyOf({ metadata: { namespace, name } })) as DeepReadonly<T> | undefined
  }

  list(options: { readonly namespace?: string; readonly labelSelector?: LabelSelector } = {}): readonly DeepReadonly<T>[] {
    const { namespace, labelSelector } = options
    const all = namespace === undefined ? [...this.#indexer.objects.values()] : this.#indexer.inNamespace(namespace)
    const selected =
      labelSelector === undefined ? all : all.filter(({ metadata }) => labelSelector.matches(metadata.labels ?? {}))
    return selected as unknown as readonly DeepReadonly<T>[]
  }

  withLabel(key: string, value: string): readonly DeepReadonly<T>[] {
    return this.#indexer.withLabel(key, value) as unknown as readonly DeepReadonly<T>[]
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.#indexer.addIndex(name, valuesOf)
  }

  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    return this.#indexer.byIndex(index, value) as unknown as readonly DeepReadonly<T>[]
  }

  on(handlers: InformerHandlers<T>): () => void {
    this.#handlers.add(handlers)
    for (const object of this.#indexer.objects.values()) this.#notify(() => handlers.added?.(object as DeepReadonly<T>))
    return () => {
      this.#handlers.delete(handlers)
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(steps: ReturnType<typeof reflect<T>>): Promise<void> {
    for await (const step of steps) {
      if (step.kind === 'list') {
        await this.#replace(step.items)
        if (this.#stopping.signal.aborted) return
        this.resourceVersion = step.resourceVersion
        this.hasSynced = true
        this.#markSynced()
        continue
      }
      const { type, object } = step.event
      if (type !== 'BOOKMARK') this.#apply(type, this.#transform(object))
      this.resourceVersion = object.metadata.resourceVersion ?? this.resourceVersion
      const pausing = this.#pause()
      if (pausing !== undefined) await pausing
      if (this.#stopping.signal.aborted) return
    }
  }

  async #replace(items: readonly T[]): Promise<void> {
    const known = new Map(this.#indexer.objects)
    for (const { type, object } of differences(known, items.map(this.#transform))) {
      this.#apply(type, object)
      const pausing = this.#pause()
      if (pausing !== undefined) await pausing
      if (this.#stopping.signal.aborted) return
    }
  }

  #apply(type: string, object: T): void {
    if (type === 'DELETED') {
      if (this.#indexer.delete(object)) this.#notifyAll((handlers) => handlers.deleted?.(object as DeepReadonly<T>))
      return
    }
    const previous = this.#indexer.set(object)
    this.#notifyAll((handlers) => {
      if (previous === undefined) handlers.added?.(object as DeepReadonly<T>)
      else handlers.updated?.(object as DeepReadonly<T>, previous as DeepReadonly<T>)
    })
  }

  #resyncEvery(ms: number): void {
    if (this.#stopping.signal.aborted) return
    const cancel = this.#clock.setTimeout(() => {
      for (const object of [...this.#indexer.objects.values()] as DeepReadonly<T>[])
        this.#notifyAll((handlers) => handlers.updated?.(object, object))
      this.#resyncEvery(ms)
    }, ms)
    this.#stopping.signal.addEventListener('abort', cancel, { once: true })
  }

  #notifyAll(call: (handlers: InformerHandlers<T>) => void): void {
    for (const handlers of this.#handlers) this.#notify(() => call(handlers))
  }

  #notify(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#onError(error)
    }
  }
}
