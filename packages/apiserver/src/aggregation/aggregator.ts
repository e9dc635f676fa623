import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { type ApiObject, type Clock, type DeepReadonly, formatTime, type NamingProfile, type Random } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { type FrozenObject, type Registry, type ResourceStore, serverContext, type WriteContext } from '@krmkit/registry'
import { SerialQueue } from '../custom-resources/serial-queue.ts'
import type { RemoteVersion } from '../discovery/remote-version.ts'
import { textResponse } from '../media/response-writer.ts'
import type { AvailabilityMetrics } from '../metrics/metrics.ts'
import type { RemoteSource } from '../openapi/remote-documents.ts'
import type { RequestContext } from '../request/context.ts'
import { Autoregister, ignoreRaces } from './autoregister.ts'
import { type AvailabilityStatus, failedCheck, local } from './availability.ts'
import type { Aggregation } from './interfaces.ts'
import { RemoteDiscovery } from './remote-discovery.ts'
import { RemoteOpenApi } from './remote-openapi.ts'
import { createRemoteService, type RemoteService } from './remote-service.ts'
import { checkService } from './service-check.ts'

/**
 * Maintains the APIService objects of group versions served here, and proxies requests of group versions that an APIService assigns
 * to another server. The states of such an APIService:
 *
 *     assigned --check passes--> Available: requests are proxied, discovery is current
 *              --check fails---> unavailable: 503, discovery is stale, checks back off from 1 s to 30 s
 */

type Service = DeepReadonly<APIService>

export interface AggregatorOptions {
  readonly registry: Registry
  readonly profile: NamingProfile
  readonly random: Random
  readonly aggregation: Aggregation
  readonly clock: Clock
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
  readonly metrics: AvailabilityMetrics
  /** Whether another server registers the group versions and writes the status of APIServices. */
  readonly isReplica?: boolean
}

interface ServiceState {
  readonly service: Service
  /** Everything that determines the connection, as text. */
  readonly connectionKey: string
  readonly remote: RemoteService | Error | undefined
  resources: readonly object[] | undefined
  isCurrent: boolean
  /** Delay before the next check of an unavailable service. */
  retryMs: number
}

const resource = 'apiservices'
/** Interval between checks of an available service; also the maximum for an unavailable one. */
const checkMs = 30_000
const firstRetryMs = 1_000

export class Aggregator {
  readonly #options: AggregatorOptions
  /** The store of APIService objects; undefined when the kind is not served. */
  readonly #services: ResourceStore | undefined
  readonly #states = new Map<string, ServiceState>()
  readonly #timers = new Map<string, () => void>()
  /** Running checks. True: the service changed after the check began, so the check runs again. */
  readonly #checking = new Map<string, boolean>()
  readonly #context: WriteContext
  readonly #discovery: RemoteDiscovery
  readonly #openApi: RemoteOpenApi
  #autoregister: Autoregister | undefined
  readonly #queue: SerialQueue
  #remote: readonly RemoteVersion[] = []

  constructor(options: AggregatorOptions) {
    const { registry, clock, closing, profile } = options
    this.#options = options
    this.#queue = new SerialQueue(options)
    this.#services = registry.storeOf({ group: `apiregistration.${profile.apiDomain}`, resource })
    this.#context = serverContext(closing)
    this.#discovery = new RemoteDiscovery({ clock, profile })
    this.#openApi = new RemoteOpenApi(clock, closing)
  }

  /** Group versions of other servers; the array is replaced when they change. */
  get remote(): readonly RemoteVersion[] {
    return this.#remote
  }

  /** OpenAPI documents of other servers. */
  get documents(): RemoteSource {
    return this.#openApi
  }

  async start(): Promise<void> {
    const services = this.#services
    if (services === undefined) return
    const { registry, profile, closing } = this.#options
    const autoregister = new Autoregister({
      registry,
      profile,
      services,
      context: this.#context,
      get: (name) => this.#states.get(name)?.service,
      names: () => [...this.#states.keys()],
      onStored: (service) => this.#upsert(service),
      onDeleted: (name) => this.#states.delete(name),
    })
    this.#autoregister = autoregister
    const follow = { signal: closing, onError: this.#options.onError }
    await services.follow(
      {
        put: (service) => this.#upsert(service as unknown as Service),
        remove: ({ metadata }) => this.#delete(metadata.name ?? ''),
      },
      follow,
    )
    const changed = ({ metadata }: FrozenObject) => this.#onBackendChange(`${metadata.namespace}/${metadata.name}`)
    for (const backend of ['services', 'endpoints']) {
      const store = registry.storeOf({ group: '', resource: backend })
      await store?.follow({ put: changed, remove: changed }, { ...follow, changesOnly: true })
    }
    const unfollow = registry.served.onChange(() => this.#queue.add(() => this.#register()))
    closing.addEventListener(
      'abort',
      () => {
        unfollow()
        for (const cancel of this.#timers.values()) cancel()
        for (const { remote } of this.#states.values()) if (remote !== undefined && !(remote instanceof Error)) remote.close()
      },
      { once: true },
    )
    this.#queue.add(() => this.#register())
    await this.#queue.drained()
  }

  /** Registers the group versions that are served here. */
  async #register(): Promise<void> {
    if (this.#options.isReplica !== true) await this.#autoregister?.sync()
  }

  /** The response of another server; undefined for requests that are served here. */
  proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse> | undefined {
    if (this.#remote.length === 0) return undefined
    const { path } = context.info
    const document = openapiPath.exec(path)
    const found = document ?? groupPath.exec(path) ?? corePath.exec(path)
    if (found === null) return undefined
    const { group = '', version = '' } = found.groups ?? {}
    const name = `${version}.${group}`
    const state = this.#states.get(name)
    if (state?.remote === undefined) return undefined
    if (document !== null && !this.#openApi.isProxied(name)) return undefined
    return this.#proxy(state, context, limitBytes)
  }

  async #proxy({ service, remote }: ServiceState, context: RequestContext, limitBytes: number): Promise<ApiResponse> {
    const available = (service.status?.conditions ?? []).some(({ type, status }) => type === 'Available' && status === 'True')
    if (!available || remote === undefined) return textResponse(503, 'service unavailable\n')
    if (remote instanceof Error) return textResponse(500, `${remote.message}\n`)
    return remote.proxy(context, limitBytes)
  }

  /** Checks the APIServices whose service, or its endpoints, changed. */
  #onBackendChange(changed: string): void {
    for (const [name, { remote, service }] of this.#states) {
      const { namespace = '', name: target = '' } = service.spec?.service ?? {}
      if (remote !== undefined && `${namespace}/${target}` === changed) this.#check(name)
    }
  }

  #upsert(service: Service): void {
    const name = service.metadata.name ?? ''
    const before = this.#states.get(name)
    const shape = this.#connectionKeyOf(service)
    if (before?.connectionKey === shape) {
      this.#states.set(name, { ...before, service })
      return
    }
    const remote = this.#connect(service)
    this.#states.set(name, {
      service,
      connectionKey: shape,
      remote,
      resources: undefined,
      isCurrent: false,
      retryMs: firstRetryMs,
    })
    this.#disconnect(name, before)
    if (remote !== undefined) this.#check(name)
    else if (before?.remote !== undefined) this.#queue.add(() => this.#updateStatus(name, local))
    this.#publish()
  }

  #connectionKeyOf({ spec }: Service): string {
    const identity = spec?.service === undefined ? undefined : this.#options.aggregation.identity?.()
    return JSON.stringify([spec ?? {}, identity ?? null])
  }

  #delete(name: string): void {
    const before = this.#states.get(name)
    this.#states.delete(name)
    this.#timers.get(name)?.()
    this.#timers.delete(name)
    this.#disconnect(name, before)
    this.#publish()
    // A group version served here is registered again at once.
    this.#queue.add(() => this.#register())
  }

  /** Closes the connection of a replaced or deleted APIService, and drops its documents. */
  #disconnect(name: string, before: ServiceState | undefined): void {
    if (before?.remote === undefined) return
    if (!(before.remote instanceof Error)) before.remote.close()
    this.#openApi.delete(name)
    if (this.#states.get(name)?.remote === undefined) this.#options.metrics.remove(name)
    const ids = [...this.#states.values()].flatMap(({ remote }) => (remote instanceof Error ? [] : (remote?.id ?? [])))
    this.#discovery.retain(new Set(ids))
  }

  #connect({ spec }: Service): RemoteService | Error | undefined {
    if (spec?.service === undefined || spec.service === null) return undefined
    const { aggregation, clock, random, registry } = this.#options
    try {
      return createRemoteService(spec, { aggregation, clock, reader: registry.reader, random })
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #publish(): void {
    const remote = [...this.#states.values()].flatMap(({ service: { spec }, remote, resources, isCurrent }): RemoteVersion[] => {
      if (remote === undefined || spec === undefined) return []
      const { group = '', version = '', groupPriorityMinimum: groupPriority, versionPriority } = spec
      return [{ group, version, groupPriority, versionPriority, resources, current: isCurrent }]
    })
    if (JSON.stringify(remote) !== JSON.stringify(this.#remote)) this.#remote = remote
  }

  /** Checks a service now and schedules the next check. Does not block the queue. */
  #check(name: string): void {
    if (this.#checking.has(name)) {
      this.#checking.set(name, true)
      return
    }
    this.#timers.get(name)?.()
    this.#checking.set(name, false)
    this.#checkNow(name)
      .catch((error: unknown) => {
        if (!this.#options.closing.aborted) this.#options.onError(error)
        return checkMs
      })
      .then((ms) => {
        const isOutdated = this.#checking.get(name) === true
        this.#checking.delete(name)
        if (!this.#states.has(name) || this.#options.closing.aborted) return
        if (isOutdated) this.#check(name)
        else {
          const cancel = this.#options.clock.setTimeout(() => this.#recheck(name), ms)
          this.#timers.set(name, cancel)
        }
      })
  }

  /** Reconnects when the client certificate has been renewed. */
  #recheck(name: string): void {
    const state = this.#states.get(name)
    if (state === undefined) return
    if (state.connectionKey === this.#connectionKeyOf(state.service)) this.#check(name)
    else this.#upsert(state.service)
  }

  /** @returns milliseconds until the next check. */
  async #checkNow(name: string): Promise<number> {
    const state = this.#states.get(name)
    if (state?.remote === undefined) return checkMs
    const availability = await this.#availabilityOf(state)
    const current = this.#currentState(name, state)
    if (current === undefined) return checkMs
    this.#queue.add(() => this.#updateStatus(name, availability))
    if (availability.status !== 'True' || state.remote instanceof Error) {
      current.isCurrent = false
      current.resources = undefined
      current.retryMs = Math.min(checkMs, current.retryMs * 2)
      this.#publish()
      return current.retryMs / 2
    }
    current.retryMs = firstRetryMs
    await this.#refreshDocuments(name, state, state.remote)
    return checkMs
  }

  /** Fetches discovery and OpenAPI of an available server. */
  async #refreshDocuments(name: string, state: ServiceState, remote: RemoteService): Promise<void> {
    const { group = '', version = '' } = state.service.spec ?? {}
    const signal = this.#options.closing
    const discovered = await this.#discovery.resources(remote, { group, version, signal }).then(
      (resources) => ({ resources, isCurrent: true }),
      () => ({ resources: undefined, isCurrent: false }),
    )
    const current = this.#currentState(name, state)
    if (current === undefined) return
    Object.assign(current, discovered)
    this.#publish()
    await this.#openApi.refresh(name, { group, version, remote })
    if (this.#currentState(name, state) === undefined) this.#openApi.delete(name)
  }

  /** The state after an asynchronous step; undefined when the connection has changed meanwhile. */
  #currentState(name: string, state: ServiceState): ServiceState | undefined {
    const current = this.#states.get(name)
    return this.#options.closing.aborted || current?.remote !== state.remote ? undefined : current
  }

  async #availabilityOf({ remote, service }: ServiceState): Promise<AvailabilityStatus> {
    if (remote === undefined || remote instanceof Error) return failedCheck(remote?.message ?? '')
    const { registry, aggregation, clock, closing } = this.#options
    return checkService({
      remote,
      spec: service.spec ?? { groupPriorityMinimum: 0, versionPriority: 0 },
      reader: registry.reader,
      isExternal: aggregation.resolveService !== undefined,
      attempts: aggregation.routing === 'endpoints' ? 5 : 1,
      clock,
      signal: closing,
    })
  }

  async #updateStatus(name: string, availability: AvailabilityStatus): Promise<void> {
    const services = this.#services
    const before = this.#states.get(name)?.service.status?.conditions?.find(({ type }) => type === 'Available')
    if (services === undefined || !this.#states.has(name)) return
    const available = availability.status === 'True'
    const lost = !available && before?.status === 'True' ? { lost: availability.reason ?? '' } : {}
    if (availability !== local) this.#options.metrics.observe(name, { available, ...lost })
    if (this.#options.isReplica === true) return
    const { status, reason, message } = availability
    if (before?.status === status && before.reason === reason && before.message === message) return
    const since = before?.status === status ? before.lastTransitionTime : undefined
    const lastTransitionTime = since ?? formatTime(this.#options.clock.now())
    const condition = { type: 'Available', ...availability, lastTransitionTime }
    await ignoreRaces(async () => {
      const { object } = await services.updateStored(this.#context, {
        namespace: '',
        name,
        subresource: 'status',
        change: (current) => withCondition(structuredClone(current) as ApiObject, condition),
      })
      this.#upsert(object as unknown as Service)
    })
  }
}

function withCondition(object: ApiObject, condition: { readonly type: string }): ApiObject {
  const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly { readonly type: string }[] }
  const others = conditions.filter(({ type }) => type !== condition.type)
  return { ...object, status: { ...(object.status as object | undefined), conditions: [...others, condition] } } as ApiObject
}

const openapiPath = /^\/openapi\/v3\/apis\/(?<group>[^/]+)\/(?<version>[^/]+)$/
const groupPath = /^\/apis\/(?<group>[^/]+)\/(?<version>[^/]+)(?:\/|$)/
const corePath = /^\/api\/(?<version>[^/]+)(?:\/|$)/
