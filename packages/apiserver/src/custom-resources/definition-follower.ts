import type { ResourceDefinition } from '@krmkit/kinds'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import {
  type CustomDefinitionOptions,
  cleanupFinalizer,
  customResources,
  loadCustomResources,
} from '@krmkit/kinds/custom-resources'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, formatTime } from '@krmkit/meta'
import {
  type Following,
  type FrozenObject,
  type Registry,
  type ResourceStore,
  serverContext,
  type WriteContext,
} from '@krmkit/registry'
import type { TypeSource } from '@krmkit/schema'
import type { WebhookConverters } from '../conversion/webhook-converter.ts'
import { isTrue, reconcileStatus } from './accepted-names.ts'
import { DefinitionFinalizer } from './definition-finalizer.ts'
import { SerialQueue } from './serial-queue.ts'

/**
 * Follows the CustomResourceDefinitions in the store: accepts names, sets conditions, serves established definitions, and has the
 * instances of deleted ones deleted.
 */

type Definition = DeepReadonly<CustomResourceDefinition>

export interface CustomResourcesOptions {
  readonly registry: Registry
  readonly types: TypeSource
  readonly clock: Clock
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
  /** Called with definitions that cannot be served, and with failed writes. */
  readonly onError: (error: unknown) => void
  /** Creates the converters of definitions with conversion webhooks. */
  readonly converters: WebhookConverters
  /** Whether another server sets the status of definitions and deletes instances. */
  readonly isReplica?: boolean
}

interface DefinitionState {
  readonly definition: Definition
  /** Identifies the combination of uid, spec and accepted names: the same object as long as none of them changes. */
  readonly edition: { readonly text: string }
  /** The conditions that decide whether the definition is served. */
  readonly stateKey: string
  readonly resources: readonly ResourceDefinition[]
}

const resource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }

/**
 * Serves the definitions in the store and follows their changes.
 *
 * @returns `catchUp`, after which a replica serves the definitions of the newest revision
 */
export async function followDefinitions(options: CustomResourcesOptions): Promise<Pick<Following, 'catchUp'> | undefined> {
  const store = options.registry.storeOf(resource)
  if (store === undefined) return undefined
  return new DefinitionFollower(options, store).start()
}

class DefinitionFollower {
  readonly #options: CustomResourcesOptions
  /** The store of the definitions. */
  readonly #store: ResourceStore
  readonly #base: readonly ResourceDefinition[]
  readonly #builtIn: ReadonlySet<string>
  readonly #states = new Map<string, DefinitionState>()
  readonly #finalizer: DefinitionFinalizer
  /** Pending changes. Changes that arrive during start are applied at once. */
  #changes: { readonly definition: Definition; readonly removed: boolean }[] = []
  #isStarting = true
  readonly #context: WriteContext
  readonly #queue: SerialQueue

  constructor(options: CustomResourcesOptions, store: ResourceStore) {
    this.#options = options
    this.#queue = new SerialQueue(options)
    this.#store = store
    this.#base = options.registry.definitions
    this.#builtIn = new Set(this.#base.map(({ group, resource: { name } }) => `${group}/${name}`))
    this.#context = serverContext(options.closing)
    this.#finalizer = new DefinitionFinalizer({
      ...options,
      resourcesOf: (definition) => this.#resourcesOf(definition, { unserved: true }),
      update: (definition, change) => this.#update(definition, change),
    })
  }

  async start(): Promise<Following> {
    const { closing, onError, isReplica } = this.#options
    const following = await this.#store.follow(
      { put: (object) => this.#onChange(object, false), remove: (object) => this.#onChange(object, true) },
      { signal: closing, onError },
    )
    if (this.#changes.length > 0 || isReplica === true) await loadCustomResources()
    for (const change of this.#changes) this.#take(change)
    this.#changes = []
    this.#isStarting = false
    this.#serve()
    closing.addEventListener('abort', () => this.#stop(following), { once: true })
    if (isReplica === true) return following
    this.#queue.add(() => this.#reconcileAll())
    await this.#queue.drained()
    return following
  }

  /** Definitions present at start are served together; later changes are processed in order, in batches. */
  #onChange(object: FrozenObject, removed: boolean): void {
    const definition = object as unknown as Definition
    if (this.#isStarting) {
      this.#changes.push({ definition, removed })
      return
    }
    if (this.#options.isReplica === true) {
      this.#take({ definition, removed })
      this.#serve()
      return
    }
    if (removed) {
      // A removed definition is not served while earlier changes are still being processed.
      this.#delete(definition.metadata.name ?? '')
      this.#serve()
    }
    this.#changes.push({ definition, removed })
    if (this.#changes.length === 1) this.#queue.add(() => this.#process())
  }

  async #process(): Promise<void> {
    // The module is already loaded, unless another server has written the definition.
    const loading = loadCustomResources()
    if (loading !== undefined) await loading
    const changes = this.#changes
    this.#changes = []
    const groups = new Set<string>()
    for (const change of changes) {
      groups.add(change.definition.spec.group)
      this.#take(change)
    }
    this.#serve()
    await this.#reconcileAll(groups)
  }

  #stop(following: Following): void {
    following.close()
    this.#finalizer.close()
  }

  #take({ definition, removed }: { readonly definition: Definition; readonly removed: boolean }): void {
    if (removed) this.#delete(definition.metadata.name ?? '')
    else this.#upsert(definition)
  }

  #upsert(definition: Definition): void {
    const name = definition.metadata.name ?? ''
    const before = this.#states.get(name)
    const { status } = definition
    // Every change of the spec has another generation.
    const { uid, generation } = definition.metadata
    const text = JSON.stringify([uid, generation ?? definition.spec, status?.acceptedNames])
    const edition = before?.edition.text === text ? before.edition : { text }
    const shape = `${isTrue(status?.conditions, 'Established')} ${isTrue(status?.conditions, 'Terminating')}`
    const isSame = before?.edition === edition && before.stateKey === shape
    const resources = isSame ? before.resources : this.#resourcesOf(definition, { edition })
    this.#states.set(name, { definition, edition, stateKey: shape, resources })
  }

  #delete(name: string): void {
    this.#states.delete(name)
    this.#finalizer.forget(name)
  }

  #resourcesOf(
    definition: Definition,
    options: Pick<CustomDefinitionOptions, 'edition' | 'unserved'>,
  ): readonly ResourceDefinition[] {
    if (!isTrue(definition.status?.conditions, 'Established')) return []
    if (this.#builtIn.has(`${definition.spec.group}/${definition.spec.names.plural}`)) return []
    const objectMeta = this.#options.types.struct('meta/v1.ObjectMeta')
    try {
      const converter = this.#options.converters.converterOf(definition)
      return customResources().customDefinitions(definition, {
        ...options,
        objectMeta,
        ...(converter === undefined ? {} : { converter }),
      })
    } catch (error) {
      this.#options.onError(error)
      return []
    }
  }

  /** Serves the built-in resources, followed by custom resources in the order of definition names. */
  #serve(): void {
    const { served } = this.#options.registry
    const names = [...this.#states.keys()].sort()
    const next = [...this.#base, ...names.flatMap((name) => this.#states.get(name)?.resources ?? [])]
    const { definitions } = served
    if (next.length === definitions.length && next.every((each, index) => each === definitions[index])) return
    served.replace(next)
  }

  /** Reconciles the definitions of the given groups, or all. */
  async #reconcileAll(groups?: ReadonlySet<string>): Promise<void> {
    for (const name of [...this.#states.keys()]) {
      const state = this.#states.get(name)
      if (state !== undefined && groups?.has(state.definition.spec.group) !== false) await this.#reconcile(name, state.definition)
    }
  }

  async #reconcile(name: string, definition: Definition): Promise<void> {
    if (definition.metadata.deletionTimestamp !== undefined) {
      if ((definition.metadata.finalizers ?? []).includes(cleanupFinalizer)) this.#finalizer.finalize(definition)
      return
    }
    const { group } = definition.spec
    const others = [...this.#states.values()]
      .map((state) => state.definition)
      .filter((other) => other.spec.group === group && other.metadata.name !== name)
    const status = reconcileStatus(definition, others, this.#now())
    if (status !== definition.status)
      await this.#update(definition, (current) => ({ ...current, status: reconcileStatus(current, others, this.#now()) }))
  }

  #now(): string {
    return formatTime(this.#options.clock.now())
  }

  /** Stores a status change, unless the definition is gone, and serves the result at once. */
  async #update({ metadata }: Definition, change: (current: Definition) => Definition): Promise<void> {
    const { name = '', uid } = metadata
    try {
      const { object, entry } = await this.#store.updateStored(this.#context, {
        namespace: '',
        name,
        subresource: 'status',
        change(current) {
          if (current?.metadata.uid !== uid) throw ApiError.notFound(resource, name)
          return { ...(change(current as unknown as Definition) as unknown as ApiObject) }
        },
      })
      if (entry === undefined) this.#delete(name)
      else this.#upsert(object as unknown as Definition)
      this.#serve()
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'NotFound')) throw error
    }
  }
}
