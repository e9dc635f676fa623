import {
  type ApiObject,
  type Clock,
  type DeepReadonly,
  type LabelSelector,
  type Random,
  systemClock,
  systemRandom,
} from '@krmkit/meta'
import { sourceOf } from './client.ts'
import { Indexer } from './indexer.ts'
import type { Client, ResourceRef, SelectOptions } from './interfaces.ts'
import { reflect } from './reflector.ts'
import { differences, keyOf } from './watch.ts'

export interface InformerOptions<T extends ApiObject> extends Omit<SelectOptions, 'signal'> {
  /** Label keys by whose values objects can be found without a scan. */
  readonly labels?: readonly string[]
  /** Further indexes: the values of an object under each. */
  readonly indexers?: Readonly<Record<string, (object: DeepReadonly<T>) => readonly string[]>>
  /** What is kept of each object, to make the copy lighter. Must not change what it is given, which others may share. */
  readonly transform?: (object: T) => T
  /** Tell every object again as updated, so that handlers can mend what they missed. Default: never. */
  readonly resyncMs?: number
  readonly clock?: Clock
  readonly random?: Pick<Random, 'bytes'>
  /** Told of failures after which the informer goes on: lists and watches that fail, handlers that throw. */
  readonly onError?: (error: unknown) => void
}

/** Called one after the other, in the order of the changes. What they throw goes to `onError`. */
export interface InformerHandlers<T extends ApiObject> {
  added?(object: DeepReadonly<T>): void
  updated?(object: DeepReadonly<T>, before: DeepReadonly<T>): void
  /** With the last known state. */
  deleted?(object: DeepReadonly<T>): void
}

/**
 * A local copy of a collection that follows the server: reads cost nothing and never wait. It lists anew when the server
 * has forgotten the version it was at, and waits longer and longer while the server cannot be reached.
 */
export interface Informer<T extends ApiObject> extends AsyncDisposable {
  /** Resolves when the first list is in the copy and the handlers were told. Rejects when the informer is stopped before. */
  readonly synced: Promise<void>
  readonly hasSynced: boolean
  /** Version that the copy has reached; empty before the first list. */
  readonly resourceVersion: string
  /** Without a namespace: the cluster-scoped object of that name. */
  get(name: string, namespace?: string): DeepReadonly<T> | undefined
  list(options?: { readonly namespace?: string; readonly labelSelector?: LabelSelector }): readonly DeepReadonly<T>[]
  /** Objects with this value of a label named in `labels`. */
  withLabel(key: string, value: string): readonly DeepReadonly<T>[]
  /** Objects with this value under one of `indexers`. */
  by(index: string, value: string): readonly DeepReadonly<T>[]
  /** Adds handlers; objects that are there already are told as added, at once. Returns how to take them away again. */
  on(handlers: InformerHandlers<T>): () => void
  stop(): Promise<void>
}

/** Starts to follow a collection. */
export function informer<T extends ApiObject>(
  client: Client,
  resource: ResourceRef<T>,
  options: InformerOptions<T> = {},
): Informer<T> {
  return new FollowingInformer(client, resource, options)
}

class FollowingInformer<T extends ApiObject> implements Informer<T> {
  readonly synced: Promise<void>
  hasSynced = false
  resourceVersion = ''
  readonly #mirror: Indexer<T>
  readonly #handlers = new Set<InformerHandlers<T>>()
  readonly #stopping = new AbortController()
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #transform: (object: T) => T
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
    } = options
    this.#mirror = new Indexer<T>({ labels: options.labels ?? [], indexers: options.indexers ?? {} })
    this.#clock = clock
    this.#onError = onError
    this.#transform = transform
    this.synced = new Promise((resolve, reject) => {
      this.#markSynced = resolve
      this.#stopping.signal.addEventListener('abort', () => reject(new Error('the informer was stopped before it had synced')), {
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
    return this.#mirror.objects.get(keyOf({ metadata: { namespace, name } })) as DeepReadonly<T> | undefined
  }

  list(options: { readonly namespace?: string; readonly labelSelector?: LabelSelector } = {}): readonly DeepReadonly<T>[] {
    const { namespace, labelSelector } = options
    const all = namespace === undefined ? [...this.#mirror.objects.values()] : this.#mirror.inNamespace(namespace)
    const chosen = labelSelector === undefined ? all : all.filter(({ metadata }) => labelSelector.matches(metadata.labels ?? {}))
    return chosen as unknown as readonly DeepReadonly<T>[]
  }

  withLabel(key: string, value: string): readonly DeepReadonly<T>[] {
    return this.#mirror.withLabel(key, value) as unknown as readonly DeepReadonly<T>[]
  }

  by(index: string, value: string): readonly DeepReadonly<T>[] {
    return this.#mirror.by(index, value) as unknown as readonly DeepReadonly<T>[]
  }

  on(handlers: InformerHandlers<T>): () => void {
    this.#handlers.add(handlers)
    for (const object of this.#mirror.objects.values()) this.#tell(() => handlers.added?.(object as DeepReadonly<T>))
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
        const known = new Map(this.#mirror.objects)
        for (const { type, object } of differences(known, step.items.map(this.#transform))) this.#take(type, object)
        this.resourceVersion = step.resourceVersion
        this.hasSynced = true
        this.#markSynced()
        continue
      }
      const { type, object } = step.event
      if (type !== 'BOOKMARK') this.#take(type, this.#transform(object))
      this.resourceVersion = object.metadata.resourceVersion ?? this.resourceVersion
    }
  }

  #take(type: string, object: T): void {
    if (type === 'DELETED') {
      this.#mirror.delete(object)
      this.#tellAll((handlers) => handlers.deleted?.(object as DeepReadonly<T>))
      return
    }
    const before = this.#mirror.set(object)
    this.#tellAll((handlers) => {
      if (before === undefined) handlers.added?.(object as DeepReadonly<T>)
      else handlers.updated?.(object as DeepReadonly<T>, before as DeepReadonly<T>)
    })
  }

  #resyncEvery(ms: number): void {
    if (this.#stopping.signal.aborted) return
    const cancel = this.#clock.setTimeout(() => {
      for (const object of [...this.#mirror.objects.values()] as DeepReadonly<T>[])
        this.#tellAll((handlers) => handlers.updated?.(object, object))
      this.#resyncEvery(ms)
    }, ms)
    this.#stopping.signal.addEventListener('abort', cancel, { once: true })
  }

  #tellAll(tell: (handlers: InformerHandlers<T>) => void): void {
    for (const handlers of this.#handlers) this.#tell(() => tell(handlers))
  }

  #tell(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#onError(error)
    }
  }
}
