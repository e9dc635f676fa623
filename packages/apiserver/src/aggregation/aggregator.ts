import type { ResourceDefinition } from '@krmkit/kinds'
import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { ApiError, type ApiObject, type Clock, type DeepReadonly, formatTime } from '@krmkit/meta'
import { collectionPrefix, createObject, deleteObject, type Registry, type RequestContext, updateObject } from '@krmkit/registry'
import { serverContext } from '../bootstrap.ts'
import type { ApiResponse } from '../interfaces.ts'
import { withDefaults } from '../request-body.ts'
import type { RequestState } from '../request-state.ts'
import { textResponse } from '../responses.ts'
import { failedCheck, local, passed, serviceProblem, type Verdict } from './availability.ts'
import type { Aggregation, RemoteVersion } from './interfaces.ts'
import { automanaged, type LocalService, localServices, type ServiceSpec } from './local-services.ts'
import { discoveredResources } from './remote-resources.ts'
import { bodyText, type RemoteService, remoteService } from './remote-service.ts'

/**
 * Keeps APIService objects for what this server serves itself, and passes requests on for group versions that such an object gives
 * to another server.
 *
 *     given to a service --checked--> Available: requests are passed on
 *                        --no way---> not available: 503, and checked again soon
 */

type Service = DeepReadonly<APIService>

export interface AggregatorOptions {
  readonly registry: Registry
  readonly aggregation: Aggregation
  readonly clock: Clock
  readonly closing: AbortSignal
  readonly onFault: (error: unknown) => void
}

interface Known {
  readonly service: Service
  /** What decides how it is reached. */
  readonly shape: string
  readonly remote: RemoteService | Error | undefined
  resources: readonly object[] | undefined
  current: boolean
}

const resource = 'apiservices'
/** Between two checks of a service that is there, and of one that is not. */
const checkMs = 30_000
const retryMs = 5_000
const checkTimeoutMs = 6_000
const discoveryLimitBytes = 4 * 1024 * 1024

export class Aggregator {
  readonly #options: AggregatorOptions
  readonly #own: ResourceDefinition | undefined
  readonly #known = new Map<string, Known>()
  readonly #timers = new Map<string, () => void>()
  readonly #context: RequestContext
  #work: Promise<void> = Promise.resolve()
  #remote: readonly RemoteVersion[] = []

  constructor(options: AggregatorOptions) {
    const { registry, closing } = options
    const { profile } = registry.environment
    this.#options = options
    this.#own = registry.stored(`apiregistration.${profile.apiDomain}`, resource)
    this.#context = serverContext(closing)
  }

  /** Group versions of other servers; the same array means that nothing has changed. */
  get remote(): readonly RemoteVersion[] {
    return this.#remote
  }

  async start(): Promise<void> {
    const own = this.#own
    if (own === undefined) return
    const { registry, closing } = this.#options
    const { storage } = registry.environment
    const prefix = collectionPrefix(own)
    const { entries, revision } = await storage.list({ prefix })
    for (const entry of entries) this.#remember(registry.parsed.objectOf(entry) as unknown as Service)
    const watcher = storage.watch({ prefix, from: revision })
    watcher.onReady = () => {
      for (const event of watcher.take()) {
        if (event.type === 'delete') this.#forget(event.key.slice(prefix.length))
        else this.#remember(registry.parsed.objectOf(event.entry) as unknown as Service)
      }
    }
    const unfollow = registry.served.onChange(() => this.#later(() => this.#keepLocal(own)))
    closing.addEventListener(
      'abort',
      () => {
        watcher.close()
        unfollow()
        for (const cancel of this.#timers.values()) cancel()
      },
      { once: true },
    )
    this.#later(() => this.#keepLocal(own))
    await this.#work
  }

  /** The answer of another server; undefined for what is served here. */
  pass(state: RequestState, limitBytes: number): Promise<ApiResponse> | undefined {
    if (this.#remote.length === 0) return undefined
    const found = /^\/apis\/([^/]+)\/([^/]+)(?:\/|$)/.exec(state.info.path) ?? openapiPath.exec(state.info.path)
    const known = found === null ? undefined : this.#known.get(`${found[2]}.${found[1]}`)
    return known?.remote === undefined ? undefined : this.#pass(known, state, limitBytes)
  }

  async #pass({ service, remote }: Known, state: RequestState, limitBytes: number): Promise<ApiResponse> {
    const available = (service.status?.conditions ?? []).some(({ type, status }) => type === 'Available' && status === 'True')
    if (!available || remote === undefined) return textResponse(503, 'service unavailable\n')
    if (remote instanceof Error) return textResponse(500, `${remote.message}\n`)
    try {
      return await remote.pass(state, limitBytes)
    } catch (error) {
      if (ApiError.is(error)) throw error
      return textResponse(503, `${error instanceof Error ? error.message : String(error)}\n`)
    }
  }

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

  #remember(service: Service): void {
    const name = service.metadata.name ?? ''
    const before = this.#known.get(name)
    const shape = JSON.stringify(service.spec ?? {})
    if (before?.shape === shape) this.#known.set(name, { ...before, service })
    else {
      const remote = this.#reach(service)
      this.#known.set(name, { service, shape, remote, resources: undefined, current: false })
      if (remote !== undefined) this.#check(name)
      this.#publish()
    }
  }

  #forget(name: string): void {
    const before = this.#known.get(name)
    this.#known.delete(name)
    this.#timers.get(name)?.()
    this.#timers.delete(name)
    if (before?.remote !== undefined) this.#publish()
    const own = this.#own
    // What is served here is given back at once.
    if (own !== undefined) this.#later(() => this.#keepLocal(own))
  }

  #reach({ spec }: Service): RemoteService | Error | undefined {
    if (spec?.service === undefined || spec.service === null) return undefined
    try {
      return remoteService(spec, this.#options.aggregation, this.#options.registry.reader)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #publish(): void {
    this.#remote = [...this.#known.values()].flatMap(({ service: { spec }, remote, resources, current }) =>
      remote === undefined || spec === undefined
        ? []
        : [
            {
              group: spec.group ?? '',
              version: spec.version ?? '',
              groupPriority: spec.groupPriorityMinimum,
              versionPriority: spec.versionPriority,
              resources,
              current,
            },
          ],
    )
  }

  /** Looks whether a service is there, now and from time to time; works beside everything else. */
  #check(name: string): void {
    this.#timers.get(name)?.()
    const again = (ms: number): void => {
      if (this.#known.has(name) && !this.#options.closing.aborted) {
        this.#timers.set(
          name,
          this.#options.clock.setTimeout(() => this.#check(name), ms),
        )
      }
    }
    const looked = async (): Promise<void> => {
      const known = this.#known.get(name)
      if (known?.remote === undefined) return
      const verdict = await this.#verdict(known)
      if (this.#options.closing.aborted || this.#known.get(name)?.shape !== known.shape) return
      this.#publish()
      this.#later(() => this.#tell(name, verdict))
      again(verdict.status === 'True' ? checkMs : retryMs)
    }
    looked().catch((error: unknown) => {
      if (this.#options.closing.aborted) return
      this.#options.onFault(error)
      again(retryMs)
    })
  }

  async #verdict(known: Known): Promise<Verdict> {
    const { remote, service } = known
    const spec = service.spec as ServiceSpec
    const { group = '', version = '' } = spec
    if (remote === undefined) return local
    if (remote instanceof Error) return failedCheck(`${group}/${version}`, remote.message)
    const { registry, aggregation, clock, closing } = this.#options
    const problem =
      remote.inProcess || aggregation.resolveService !== undefined ? undefined : serviceProblem(spec, registry.reader)
    if (problem !== undefined) return problem
    const path = `/apis/${group}/${version}`
    const ended = new AbortController()
    const cancel = clock.setTimeout(() => ended.abort(new Error('context deadline exceeded')), checkTimeoutMs)
    const leave = () => ended.abort(closing.reason)
    closing.addEventListener('abort', leave, { once: true })
    try {
      const answer = await remote.ask(path, { user: aggregatorUser, signal: ended.signal })
      const text = await bodyText(answer, discoveryLimitBytes)
      if (answer.status < 200 || answer.status > 299) throw new Error(`bad status from ${remote.url}${path}: ${answer.status}`)
      const now = this.#known.get(service.metadata.name ?? '')
      if (now !== undefined) {
        now.resources = discoveredResources(text, { group, version })
        now.current = true
      }
      return passed
    } catch (error) {
      const now = this.#known.get(service.metadata.name ?? '')
      if (now !== undefined) now.current = false
      return failedCheck(`${remote.url}${path}`, error instanceof Error ? error.message : String(error))
    } finally {
      cancel()
      closing.removeEventListener('abort', leave)
    }
  }

  async #tell(name: string, verdict: Verdict): Promise<void> {
    const own = this.#own
    const before = this.#known.get(name)?.service.status?.conditions?.find(({ type }) => type === 'Available')
    if (own === undefined || !this.#known.has(name)) return
    if (before?.status === verdict.status && before.reason === verdict.reason && before.message === verdict.message) return
    const since = before?.status === verdict.status ? before.lastTransitionTime : undefined
    const lastTransitionTime = since ?? formatTime(this.#options.clock.now())
    const condition = { type: 'Available', ...verdict, lastTransitionTime }
    await this.#ignoringRaces(async () => {
      const { object } = await updateObject(this.#options.registry, own, this.#context, {
        namespace: '',
        name,
        subresource: 'status',
        change: (current) => ({ ...(structuredClone(current) as ApiObject), status: { conditions: [condition] } }) as ApiObject,
      })
      this.#remember(object as unknown as Service)
    })
  }

  /** Objects for all that is served here and that nobody gave to another server; those of what is not served any more go. */
  async #keepLocal(own: ResourceDefinition): Promise<void> {
    const { registry } = this.#options
    const wanted = localServices(registry.definitions, registry.environment.profile)
    for (const each of wanted.values()) await this.#ensure(own, each)
    for (const [name, { service }] of [...this.#known]) {
      if (wanted.has(name) || service.metadata.labels?.[automanaged] === undefined) continue
      await this.#ignoringRaces(async () => {
        await deleteObject(registry, own, this.#context, { namespace: '', name, options: {} })
        this.#known.delete(name)
      })
    }
  }

  async #ensure(own: ResourceDefinition, { name, label, spec }: LocalService): Promise<void> {
    const { registry } = this.#options
    const known = this.#known.get(name)?.service
    const labels = { [automanaged]: label }
    if (known === undefined) {
      const object = { apiVersion: `${own.group}/${own.version}`, kind: own.kind.kind, metadata: { name, labels }, spec }
      await this.#ignoringRaces(async () => {
        const given = withDefaults(object as unknown as ApiObject, own, registry.environment.profile)
        const stored = await createObject(registry, own, this.#context, { namespace: '', object: given })
        this.#remember(stored.object as unknown as Service)
      })
      return
    }
    // Somebody took the label away, or gave the group version to another server: it is theirs.
    if (known.metadata.labels?.[automanaged] === undefined || sameSpec(known.spec, spec)) return
    await this.#ignoringRaces(async () => {
      const { object } = await updateObject(registry, own, this.#context, {
        namespace: '',
        name,
        subresource: '',
        change: (current) => ({ ...(structuredClone(current) as ApiObject), spec: { ...spec } }) as ApiObject,
      })
      this.#remember(object as unknown as Service)
    })
  }

  /** Another server over the same store keeps the same objects. */
  async #ignoringRaces(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!ApiError.is(error) || !['AlreadyExists', 'Conflict', 'NotFound'].includes(error.reason)) throw error
    }
  }
}

const openapiPath = /^\/openapi\/v3\/apis\/([^/]+)\/([^/]+)$/

const aggregatorUser = { username: 'system:kube-aggregator', groups: ['system:masters'] }

function sameSpec(a: Service['spec'], b: LocalService['spec']): boolean {
  return (
    a?.service === undefined &&
    (a?.group ?? '') === (b.group ?? '') &&
    a?.version === b.version &&
    a.groupPriorityMinimum === b.groupPriorityMinimum &&
    a.versionPriority === b.versionPriority
  )
}
