import { apiVersionOf, type Client, type Informer } from '@krmkit/client'
import type { ApiObject, Clock, DeepReadonly, NamingProfile } from '@krmkit/meta'
import { type DiscoveredResource, type Discovery, discover } from './discovery.ts'
import { eventTurns, yieldTurns } from './idle-tracker.ts'
import type { SharedInformers } from './shared-informers.ts'
import type { WorkQueue } from './work-queue.ts'

export type Metadata = DeepReadonly<ApiObject>

/** Told of changes to objects of any kind. */
export interface MonitorHandlers {
  added?(resource: DiscoveredResource, object: Metadata): void
  updated?(resource: DiscoveredResource, object: Metadata): void
  deleted?(resource: DiscoveredResource, object: Metadata): void
  /** Not seen any more, for its resource is not served any more. */
  dropped?(resource: DiscoveredResource, object: Metadata): void
  /** The server was asked anew what it serves. */
  discovered?(discovered: Discovery): void
  /** `isReady` became true. */
  ready?(): void
}

export interface MonitorsOptions {
  readonly client: Client
  readonly informers: SharedInformers
  readonly clock: Clock
  readonly profile: NamingProfile
  readonly signal: AbortSignal
  readonly queue: (sync: () => Promise<undefined>) => WorkQueue<'discover'>
}

/** Objects that are only notes about others: nobody waits for them, and there are many. */
const isIgnored = ({ resource, group }: DiscoveredResource) =>
  resource === 'events' && (group === '' || group.startsWith('events.'))

const maxRediscoveries = 8
/** A collection that takes longer to be listed is not waited for. */
const listTimeoutMs = 30_000

/**
 * Discovery kept up to date, and one local copy of metadata for every resource whose objects can be watched and deleted.
 * Begins to work when it is first asked; resources that come and go with their definitions are noticed by the definitions.
 */
export class Monitors {
  readonly #options: MonitorsOptions
  readonly #queue: WorkQueue<'discover'>
  readonly #watched = new Map<string, { readonly resource: DiscoveredResource; readonly informer: Informer<ApiObject> }>()
  readonly #handlers = new Set<MonitorHandlers>()
  #discovered: Discovery | undefined
  #first: Promise<Discovery> | undefined
  #isReady = false
  #cancelReady: () => void = () => undefined
  #resolveFirst: (discovered: Discovery) => void = () => undefined
  #attemptsLeft = 0

  constructor(options: MonitorsOptions) {
    this.#options = options
    this.#queue = options.queue(() => this.#rediscover())
  }

  /** What the server serves. Waits for the first answer only; rejects when the controllers end before. */
  discovered(): Promise<Discovery> {
    if (this.#discovered !== undefined) return Promise.resolve(this.#discovered)
    if (this.#first === undefined) {
      const { signal } = this.#options
      this.#first = new Promise((resolve, reject) => {
        this.#resolveFirst = resolve
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
      this.#first.catch(() => undefined)
      this.#queue.add('discover')
    }
    return this.#first
  }

  /** Asks the server again. */
  refresh(): void {
    this.#queue.add('discover')
  }

  /** Adds handlers; objects that are there already are told as added. Returns how to take them away again. */
  on(handlers: MonitorHandlers): () => void {
    void this.discovered()
    this.#handlers.add(handlers)
    if (this.#discovered !== undefined) handlers.discovered?.(this.#discovered)
    for (const { resource, informer } of this.#watched.values())
      for (const object of informer.list()) handlers.added?.(resource, object)
    return () => {
      this.#handlers.delete(handlers)
    }
  }

  /** The copy of a resource, whatever the version it is asked for by; absent when it cannot be watched. */
  of(resource: { readonly group: string; readonly resource: string }): Informer<ApiObject> | undefined {
    return this.#watched.get(keyOf(resource))?.informer
  }

  /**
   * Whether every copy has had its first list, so that what is not in them is not there. A resource that cannot be listed
   * is waited for half a minute and no longer.
   */
  get isReady(): boolean {
    return this.#isReady
  }

  async #rediscover(): Promise<undefined> {
    const { client, profile, signal } = this.#options
    const discovered = await discover(client, { profile, signal })
    const isFirst = this.#discovered === undefined
    this.#discovered = discovered
    for (const handlers of this.#handlers) handlers.discovered?.(discovered)
    await this.#follow(discovered)
    if (isFirst) {
      this.#resolveFirst(discovered)
      this.#watchDefinitions()
    }
    if (discovered.failures.size > 0 || this.#isBehind(discovered)) this.#rediscoverLater()
    else this.#attemptsLeft = maxRediscoveries
  }

  /** Starts and ends copies. */
  async #follow(discovered: Discovery): Promise<void> {
    const { informers } = this.#options
    const wanted = new Map(discovered.preferred.filter(isWatched).map((resource) => [keyOf(resource), resource]))
    const gone = [...this.#watched].filter(([key, { resource }]) => {
      // What could not be discovered may still be there.
      return wanted.get(key)?.version !== resource.version && !discovered.failures.has(apiVersionOf(resource))
    })
    // Its last events may be on their way.
    if (gone.length > 0) await yieldTurns(eventTurns)
    for (const [key, { resource, informer }] of gone) {
      const last = informer.list()
      this.#watched.delete(key)
      await informers.dropMetadataOf(resource)
      // Where a version took the place of another, its copy tells the same objects.
      if (!wanted.has(key)) for (const object of last) this.#notify('dropped', resource, object)
    }
    const added = [...wanted].filter(([key]) => !this.#watched.has(key))
    if (added.length > 0) this.#isReady = false
    for (const [key, resource] of added) {
      const informer = informers.metadataOf(resource)
      this.#watched.set(key, { resource, informer })
      informer.on({
        added: (object) => this.#notify('added', resource, object),
        updated: (object) => this.#notify('updated', resource, object),
        deleted: (object) => this.#notify('deleted', resource, object),
      })
    }
    if (!this.#isReady) this.#awaitReady()
  }

  #awaitReady(): void {
    this.#cancelReady()
    let isCancelled = false
    const { clock, signal } = this.#options
    const ready = () => {
      if (isCancelled || signal.aborted) return
      this.#cancelReady()
      this.#isReady = true
      for (const handlers of this.#handlers) handlers.ready?.()
    }
    const cancelTimer = clock.setTimeout(ready, listTimeoutMs)
    this.#cancelReady = () => {
      isCancelled = true
      cancelTimer()
    }
    signal.addEventListener('abort', this.#cancelReady, { once: true })
    void Promise.all([...this.#watched.values()].map(({ informer }) => informer.synced)).then(ready, () => undefined)
  }

  #notify(what: 'added' | 'updated' | 'deleted' | 'dropped', resource: DiscoveredResource, object: Metadata): void {
    for (const handlers of this.#handlers) handlers[what]?.(resource, object)
  }

  #watchDefinitions(): void {
    for (const { group, resource } of this.#definitionResources()) {
      const again = () => {
        this.#attemptsLeft = maxRediscoveries
        this.refresh()
      }
      const known = this.of({ group, resource })
      let isListed = known?.hasSynced ?? false
      void known?.synced.then(
        () => {
          isListed = true
          again()
        },
        () => undefined,
      )
      known?.on({ added: () => isListed && again(), updated: again, deleted: again })
    }
  }

  /** Resources whose objects make other resources appear. */
  #definitionResources(): readonly { readonly group: string; readonly resource: string }[] {
    const { apiDomain } = this.#options.profile
    return [
      { group: `apiextensions.${apiDomain}`, resource: 'customresourcedefinitions' },
      { group: `apiregistration.${apiDomain}`, resource: 'apiservices' },
    ]
  }

  /** Whether there is a definition whose resource is not served yet, or a resource whose definition is gone. */
  #isBehind(discovered: Discovery): boolean {
    const [definitions] = this.#definitionResources()
    const copy = definitions && this.of(definitions)
    if (copy === undefined || !copy.hasSynced) return false
    const served = new Set(discovered.preferred.map(({ group, resource }) => `${resource}.${group}`))
    return copy.list().some(({ metadata }) => metadata.deletionTimestamp === undefined && !served.has(metadata.name ?? ''))
  }

  #rediscoverLater(): void {
    if (this.#attemptsLeft <= 0) return
    this.#queue.addAfter('discover', 5 * 4 ** (maxRediscoveries - this.#attemptsLeft--))
  }
}

function isWatched(resource: DiscoveredResource): boolean {
  const { verbs } = resource
  return verbs.has('list') && verbs.has('watch') && verbs.has('delete') && !isIgnored(resource)
}

function keyOf({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return `${group}/${resource}`
}
