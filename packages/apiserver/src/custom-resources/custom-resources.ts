import {
  type CustomDefinitionOptions,
  cleanupFinalizer,
  customDefinitions,
  type ResourceDefinition,
  setDefinitionCondition,
} from '@krmkit/kinds'
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '@krmkit/kinds/apiextensions/v1'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, formatTime, Slices } from '@krmkit/meta'
import { collectionPrefix, deleteObject, type Registry, updateObject, type WriteContext } from '@krmkit/registry'
import type { Watcher } from '@krmkit/storage'
import { serverContext } from '../bootstrap.ts'
import type { WebhookConverters } from '../conversion/webhook-converter.ts'
import { isTrue, settledStatus } from './accepted-names.ts'

/**
 * Keeps what is served in step with the definitions in the store: settles names and conditions, serves what is established, and
 * removes the instances of what is deleted.
 */

type Definition = DeepReadonly<CustomResourceDefinition>

export interface CustomResourcesOptions {
  readonly registry: Registry
  readonly clock: Clock
  /** Everything ends when it aborts. */
  readonly closing: AbortSignal
  /** Hears of definitions that could not be dealt with. */
  readonly onFault: (error: unknown) => void
  /** Of definitions whose versions are translated by others. */
  readonly converters: WebhookConverters
}

interface Known {
  readonly definition: Definition
  /** What it asks for, as text; the object stays the same as long as the text does. */
  readonly edition: { readonly text: string }
  /** What else decides how it is served. */
  readonly shape: string
  readonly resources: readonly ResourceDefinition[]
}

const resource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

/** Serves the definitions that are in the store, and from then on follows every change. */
export async function followDefinitions(options: CustomResourcesOptions): Promise<void> {
  const own = options.registry.stored(resource.group, resource.resource)
  if (own === undefined) return
  const follower = new Follower(options, own)
  await follower.start()
}

class Follower {
  readonly #options: CustomResourcesOptions
  readonly #own: ResourceDefinition
  readonly #base: readonly ResourceDefinition[]
  readonly #builtIn: ReadonlySet<string>
  readonly #known = new Map<string, Known>()
  /** Watches of the instances of definitions that are going away. */
  readonly #leaving = new Map<string, Watcher>()
  readonly #context: WriteContext
  #work: Promise<void> = Promise.resolve()

  constructor(options: CustomResourcesOptions, own: ResourceDefinition) {
    this.#options = options
    this.#own = own
    this.#base = options.registry.definitions
    this.#builtIn = new Set(this.#base.map(({ group, resource: { name } }) => `${group}/${name}`))
    this.#context = serverContext(options.closing)
  }

  async start(): Promise<void> {
    const { registry, closing } = this.#options
    const { storage } = registry.environment
    const prefix = collectionPrefix(this.#own)
    const { entries, revision } = await storage.list({ prefix })
    const found = entries.map((entry) => registry.objectCache.objectOf(entry) as unknown as Definition)
    for (const definition of found) this.#remember(definition)
    this.#serve()
    const watcher = storage.watch({ prefix, from: revision })
    const look = (): void => {
      this.#later(async () => {
        const groups = new Set<string>()
        for (const event of watcher.take()) {
          const definition = registry.objectCache.objectOf(event.entry) as unknown as Definition
          groups.add(definition.spec.group)
          if (event.type === 'delete') this.#forget(event.key.slice(prefix.length))
          else this.#remember(definition)
        }
        this.#serve()
        await this.#settleAll(groups)
      })
    }
    watcher.onReady = look
    closing.addEventListener('abort', () => this.#stop(watcher), { once: true })
    this.#later(() => this.#settleAll())
    await this.#work
  }

  #stop(watcher: Watcher): void {
    watcher.close()
    for (const each of this.#leaving.values()) each.close()
    this.#leaving.clear()
  }

  /** One piece of work after another, whatever becomes of each. */
  #later(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#options.closing.aborted) return
      try {
        await work()
      } catch (error) {
        if (!this.#options.closing.aborted) this.#options.onFault(error)
      }
    })
  }

  #remember(definition: Definition): void {
    const name = definition.metadata.name ?? ''
    const before = this.#known.get(name)
    const { status } = definition
    const text = JSON.stringify([definition.metadata.uid, definition.spec, status?.acceptedNames])
    const edition = before?.edition.text === text ? before.edition : { text }
    const shape = `${isTrue(status?.conditions, 'Established')} ${isTrue(status?.conditions, 'Terminating')}`
    const isSame = before?.edition === edition && before.shape === shape
    const resources = isSame ? before.resources : this.#resourcesOf(definition, { edition })
    this.#known.set(name, { definition, edition, shape, resources })
  }

  #forget(name: string): void {
    this.#known.delete(name)
    this.#leaving.get(name)?.close()
    this.#leaving.delete(name)
  }

  #resourcesOf(
    definition: Definition,
    options: Pick<CustomDefinitionOptions, 'edition' | 'unserved'>,
  ): readonly ResourceDefinition[] {
    if (!isTrue(definition.status?.conditions, 'Established')) return []
    if (this.#builtIn.has(`${definition.spec.group}/${definition.spec.names.plural}`)) return []
    const objectMeta = this.#options.registry.environment.types.struct('meta/v1.ObjectMeta')
    try {
      const converter = this.#options.converters.of(definition)
      return customDefinitions(definition, { ...options, objectMeta, ...(converter === undefined ? {} : { converter }) })
    } catch (error) {
      this.#options.onFault(error)
      return []
    }
  }

  /** Served are the built-in resources, and then the others by the names of their definitions. */
  #serve(): void {
    const { served } = this.#options.registry
    const names = [...this.#known.keys()].sort()
    const next = [...this.#base, ...names.flatMap((name) => this.#known.get(name)?.resources ?? [])]
    const { definitions } = served
    if (next.length === definitions.length && next.every((each, index) => each === definitions[index])) return
    served.replace(next)
  }

  /** All of some groups; all there are by default. Names are settled group by group. */
  async #settleAll(groups?: ReadonlySet<string>): Promise<void> {
    for (const name of [...this.#known.keys()]) {
      const known = this.#known.get(name)
      if (known !== undefined && groups?.has(known.definition.spec.group) !== false) await this.#settle(name, known.definition)
    }
  }

  async #settle(name: string, definition: Definition): Promise<void> {
    if (definition.metadata.deletionTimestamp !== undefined) {
      if ((definition.metadata.finalizers ?? []).includes(cleanupFinalizer)) await this.#remove(name, definition)
      return
    }
    const { group } = definition.spec
    const others = [...this.#known.values()]
      .map((known) => known.definition)
      .filter((other) => other.spec.group === group && other.metadata.name !== name)
    const status = settledStatus(definition, others, this.#now())
    if (status !== definition.status)
      await this.#update(name, (current) => ({ ...current, status: settledStatus(current, others, this.#now()) }))
  }

  #now(): string {
    return formatTime(this.#options.clock.now())
  }

  /** Stores a change of the status; what comes of it is served at once. */
  async #update(name: string, change: (current: Definition) => Definition): Promise<void> {
    const { registry } = this.#options
    try {
      const { object, entry } = await updateObject(registry, this.#own, this.#context, {
        namespace: '',
        name,
        subresource: 'status',
        change: (current) => change(structuredClone(current) as unknown as Definition) as unknown as ApiObject,
      })
      if (entry === undefined) this.#forget(name)
      else this.#remember(object as unknown as Definition)
      this.#serve()
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
    }
  }

  /** Deletes all instances; when the last one is gone, so is the definition. */
  async #remove(name: string, definition: Definition): Promise<void> {
    const { registry } = this.#options
    const { storage } = registry.environment
    const [first] = this.#resourcesOf({ ...definition, status: established(definition.status) }, { unserved: true })
    const stored = first?.storage ?? { group: definition.spec.group, version: '', resource: definition.spec.names.plural }
    const prefix = collectionPrefix({ storage: stored })
    if (!this.#leaving.has(name)) {
      await this.#update(name, (current) =>
        terminating(current, this.#now(), 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
      )
      const watcher = storage.watch({ prefix, from: storage.revision })
      this.#leaving.set(name, watcher)
      watcher.onReady = () => {
        watcher.take()
        const known = this.#known.get(name)
        if (known !== undefined) this.#later(() => this.#settle(name, known.definition))
      }
      if (first !== undefined) await this.#deleteInstances(first, prefix)
    }
    if (storage.count(prefix) > 0) return
    await this.#update(name, (current) => {
      const done = terminating(current, this.#now(), 'InstanceDeletionCompleted', 'removed all instances', 'False')
      const finalizers = (current.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
      return { ...done, metadata: { ...done.metadata, finalizers } }
    })
  }

  async #deleteInstances(definition: ResourceDefinition, prefix: string): Promise<void> {
    const { registry } = this.#options
    const { entries } = await registry.environment.storage.list({ prefix })
    const slices = new Slices(registry.slices)
    for (const entry of entries) {
      if (slices.due(true)) await slices.next()
      const { metadata } = registry.objectCache.objectOf(entry)
      if (metadata.deletionTimestamp !== undefined) continue
      try {
        await deleteObject(registry, definition, this.#context, {
          namespace: metadata.namespace ?? '',
          name: metadata.name ?? '',
          options: {},
        })
      } catch (error) {
        if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
      }
    }
  }
}

/** As if names had been accepted: for instances of a definition that was deleted before. */
function established(status: Definition['status']): DeepReadonly<CustomResourceDefinitionStatus> {
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
