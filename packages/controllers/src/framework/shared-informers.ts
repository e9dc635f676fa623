import { type Client, createInformer, type IndexFunction, type Informer, type ResourceRef, typeOf } from '@krmkit/client'
import type { ApiObject, Clock, DeepReadonly, Random } from '@krmkit/meta'
import type { IdleTracker } from './idle-tracker.ts'
import { TurnBudget } from './turn-budget.ts'

export interface SharedInformersOptions {
  readonly client: Client
  /** Client that returns only metadata. */
  readonly metadata: Client
  readonly clock: Clock
  readonly random: Random
  readonly idleTracker: IdleTracker
  /** Time budget shared with the queues of the same controllers. Default: a separate budget for the informers. */
  readonly turnBudget?: TurnBudget
  readonly onError: (error: unknown) => void
}

/** Finds the objects of a collection by a value that a function derives from them. */
export interface ObjectIndex<T extends ApiObject> {
  get(value: string): readonly DeepReadonly<T>[]
}

/** Informers shared by controllers: one per collection, started on first use. */
export class SharedInformers implements AsyncDisposable {
  readonly #options: SharedInformersOptions
  readonly #turnBudget: TurnBudget
  readonly #running = new Map<string, Informer<ApiObject>>()

  constructor(options: SharedInformersOptions) {
    this.#options = options
    this.#turnBudget = options.turnBudget ?? new TurnBudget()
  }

  /** Returns the informer of a collection of complete objects, optionally restricted by a field selector. */
  of<T extends ApiObject>(resource: ResourceRef<T>, options: { readonly fieldSelector?: string } = {}): Informer<T> {
    const key = `${keyOf(resource)} ${options.fieldSelector ?? ''}`
    return (this.#running.get(key) ?? this.#start(key, this.#options.client, { resource, ...options })) as Informer<T>
  }

  /** Returns an index of a collection of complete objects. The first call of a name defines the index; later calls return the same. */
  index<T extends ApiObject>(resource: ResourceRef<T>, name: string, valuesOf: IndexFunction<T>): ObjectIndex<T> {
    const informer = this.of(resource)
    informer.addIndex(name, valuesOf)
    return { get: (value) => informer.byIndex(name, value) }
  }

  /** Returns the informer of metadata, without `managedFields`. */
  metadataOf(resource: ResourceRef): Informer<ApiObject> {
    const key = `${keyOf(resource)} metadata`
    const running = this.#running.get(key)
    if (running !== undefined) return running
    return this.#start(key, this.#options.metadata, { resource, transform: withoutManagedFields })
  }

  /** Stops the metadata informer of a resource that is no longer served. */
  async dropMetadataOf(resource: ResourceRef): Promise<void> {
    const key = `${keyOf(resource)} metadata`
    const running = this.#running.get(key)
    this.#running.delete(key)
    await running?.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.values()].map((each) => each.stop()))
  }

  #start(
    key: string,
    client: Client,
    target: {
      readonly resource: ResourceRef
      readonly fieldSelector?: string
      readonly transform?: (object: ApiObject) => ApiObject
    },
  ): Informer<ApiObject> {
    const { clock, random, idleTracker, onError } = this.#options
    const { resource, ...selection } = target
    // The first list counts as pending work until it succeeds, or fails for the first time.
    const end = idleTracker.begin()
    const started = createInformer<ApiObject>(client, resource, {
      ...selection,
      clock,
      random,
      pause: () => this.#turnBudget.pause(),
      onError: (error) => {
        end()
        onError(error)
      },
    })
    started.synced.then(end, end)
    const note = () => idleTracker.noteChange()
    started.on({ added: note, updated: note, deleted: note })
    this.#running.set(key, started)
    return started
  }
}

/** Removes managedFields, which make up most of the size of metadata. */
function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function keyOf(resource: ResourceRef): string {
  const { group, version, resource: plural } = typeOf(resource)
  return `${group}/${version}/${plural}`
}
