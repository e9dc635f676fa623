import { type Client, type Informer, informer, type ResourceRef, typeOf } from '@krmkit/client'
import type { ApiObject, Clock, Random } from '@krmkit/meta'
import type { IdleTracker } from './idle-tracker.ts'

export interface SharedInformersOptions {
  readonly client: Client
  /** The client that asks for metadata alone. */
  readonly metadata: Client
  readonly clock: Clock
  readonly random: Random
  readonly idleTracker: IdleTracker
  readonly onError: (error: unknown) => void
}

/** Local copies that several controllers share: one for each collection, started when it is first asked for. */
export class SharedInformers implements AsyncDisposable {
  readonly #options: SharedInformersOptions
  readonly #running = new Map<string, Informer<ApiObject>>()

  constructor(options: SharedInformersOptions) {
    this.#options = options
  }

  /** Whole objects. A field selector narrows the collection. */
  of<T extends ApiObject>(resource: ResourceRef<T>, options: { readonly fieldSelector?: string } = {}): Informer<T> {
    const key = `${keyOf(resource)} ${options.fieldSelector ?? ''}`
    return (this.#running.get(key) ?? this.#start(key, this.#options.client, { resource, ...options })) as Informer<T>
  }

  /** Objects with their metadata alone, and without `managedFields`. */
  metadataOf(resource: ResourceRef): Informer<ApiObject> {
    const key = `${keyOf(resource)} metadata`
    const running = this.#running.get(key)
    if (running !== undefined) return running
    return this.#start(key, this.#options.metadata, { resource, transform: withoutOwners })
  }

  /** Ends the copy of metadata of a resource that is not served any more. */
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
    what: {
      readonly resource: ResourceRef
      readonly fieldSelector?: string
      readonly transform?: (object: ApiObject) => ApiObject
    },
  ): Informer<ApiObject> {
    const { clock, random, idleTracker, onError } = this.#options
    const { resource, ...selection } = what
    // The first list counts as work until it is there or has failed once.
    const end = idleTracker.begin()
    const started = informer<ApiObject>(client, resource, {
      ...selection,
      clock,
      random,
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

/** Who owns which fields is most of the weight of metadata. */
function withoutOwners({ metadata: { managedFields: _, ...metadata }, ...object }: ApiObject): ApiObject {
  return { ...object, metadata }
}

function keyOf(resource: ResourceRef): string {
  const { group, version, resource: plural } = typeOf(resource)
  return `${group}/${version}/${plural}`
}
