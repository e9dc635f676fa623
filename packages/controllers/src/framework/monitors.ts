import { apiVersionOf, type Client, type Informer } from '@krmkit/client'
import type { ApiObject, Clock, DeepReadonly, NamingProfile } from '@krmkit/meta'
import { type DiscoveredResource, type Discovery, discover } from './discovery.ts'
import { eventTurns, yieldTurns } from './idle-tracker.ts'
import type { SharedInformers } from './shared-informers.ts'
import type { WorkQueue } from './work-queue.ts'

export type Metadata = DeepReadonly<ApiObject>

/** Handlers for changes to objects of any kind. */
export interface MonitorHandlers {
  added?(resource: DiscoveredResource, object: Metadata): void
  updated?(resource: DiscoveredResource, object: Metadata): void
  deleted?(resource: DiscoveredResource, object: Metadata): void
  /** Called for each known object of a resource that is no longer served. */
  dropped?(resource: DiscoveredResource, object: Metadata): void
  /** Called after each discovery. */
  discovered?(discovered: Discovery): void
  /** Called when `isReady` becomes true. */
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

/** Events are not monitored: they are numerous and no object depends on them. */
const isIgnored = ({ resource, group }: DiscoveredResource) =>
  resource === 'events' && (group === '' || group.startsWith('events.'))

const maxRediscoveries = 8
/** Maximum time to wait for the first list of a collection. */
const listTimeoutMs = 30_000

/**
 * Keeps discovery up to date and runs a metadata informer for every resource that can be watched and deleted. Starts on first use.
 * Changes of custom resource definitions and API services trigger rediscovery.
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

  /** Returns the current discovery. Waits only for the first discovery; rejects if the controllers stop before it. */
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

  /** Triggers a new discovery. */
  refresh(): void {
    this.#queue.add('discover')
  }

  /** Adds handlers and calls `added` for known objects. @returns a function that removes the handlers */
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

  /** Returns the informer of a resource at any version, if the resource is monitored. */
  of(resource: { readonly group: string; readonly resource: string }): Informer<ApiObject> | undefined {
    return this.#watched.get(keyOf(resource))?.informer
  }

  /**
   * Whether all informers have synced, so that an object unknown to the monitors does not exist. Waits at most 30 seconds
   * for resources that cannot be listed.
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
    await this.#syncInformers(discovered)
    if (isFirst) {
      this.#resolveFirst(discovered)
      this.#watchDefinitions()
    }
    if (discovered.failures.size > 0 || this.#isBehind(discovered)) this.#rediscoverLater()
    else this.#attemptsLeft = maxRediscoveries
  }

  /** Starts and stops informers. */
  async #syncInformers(discovered: Discovery): Promise<void> {
    const { informers } = this.#options
    const wanted = new Map(discovered.preferred.filter(isWatched).map((resource) => [keyOf(resource), resource]))
    const obsolete = [...this.#watched].filter(([key, { resource }]) => {
      // A resource may still be served although its discovery failed.
      return wanted.get(key)?.version !== resource.version && !discovered.failures.has(apiVersionOf(resource))
    })
    // The last events may not have been delivered yet.
    if (obsolete.length > 0) await yieldTurns(eventTurns)
    for (const [key, { resource, informer }] of obsolete) {
      const last = informer.list()
      this.#watched.delete(key)
      await informers.dropMetadataOf(resource)
      // When another version takes over, its informer reports the same objects.
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

  #notify(event: 'added' | 'updated' | 'deleted' | 'dropped', resource: DiscoveredResource, object: Metadata): void {
    for (const handlers of this.#handlers) handlers[event]?.(resource, object)
  }

  #watchDefinitions(): void {
    for (const { group, resource } of this.#definitionResources()) {
      const rediscover = () => {
        this.#attemptsLeft = maxRediscoveries
        this.refresh()
      }
      const known = this.of({ group, resource })
      let isListed = known?.hasSynced ?? false
      void known?.synced.then(
        () => {
          isListed = true
          rediscover()
        },
        () => undefined,
      )
      known?.on({ added: () => isListed && rediscover(), updated: rediscover, deleted: rediscover })
    }
  }

  /** Resources whose objects define other resources. */
  #definitionResources(): readonly { readonly group: string; readonly resource: string }[] {
    const { apiDomain } = this.#options.profile
    return [
      { group: `apiextensions.${apiDomain}`, resource: 'customresourcedefinitions' },
      { group: `apiregistration.${apiDomain}`, resource: 'apiservices' },
    ]
  }

  /** Whether a definition exists whose resource is not served yet. */
  #isBehind(discovered: Discovery): boolean {
    const [definitions] = this.#definitionResources()
    const informer = definitions && this.of(definitions)
    if (informer === undefined || !informer.hasSynced) return false
    const served = new Set(discovered.preferred.map(({ group, resource }) => `${resource}.${group}`))
    return informer.list().some(({ metadata }) => metadata.deletionTimestamp === undefined && !served.has(metadata.name ?? ''))
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
