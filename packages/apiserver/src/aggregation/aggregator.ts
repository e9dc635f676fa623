import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { type ApiObject, type Clock, type DeepReadonly, formatTime, type NamingProfile, type Random } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { FrozenObject, Registry, ResourceStore, WriteContext } from '@krmkit/registry'
import { serverContext } from '../bootstrap/system-objects.ts'
import { textResponse } from '../encoding/response-writer.ts'
import type { AvailabilityMetrics } from '../metrics/metrics.ts'
import type { RemoteSource } from '../openapi/index.ts'
import type { RequestContext } from '../request-context.ts'
import { Autoregister, ignoreRaces } from './autoregister.ts'
import { type AvailabilityStatus, failedCheck, local } from './availability.ts'
import type { Aggregation, RemoteVersion } from './interfaces.ts'
import { RemoteDiscovery } from './remote-discovery.ts'
import { RemoteOpenApi } from './remote-openapi.ts'
import { createRemoteService, type RemoteService } from './remote-service.ts'
import { checkService } from './service-check.ts'

/**
 * Keeps APIService objects for what this server serves itself, and passes requests on for group versions that such an object gives
 * to another server.
 *
 *     given to a service --checked--> Available: requests are passed on, discovery is current
 *                        --no way---> not available: 503, discovery is stale; checked again sooner, then later and later
 */

type Service = DeepReadonly<APIService>

export interface AggregatorOptions {
  readonly registry: Registry
  readonly profile: NamingProfile
  readonly random: Random
  readonly aggregation: Aggregation
  readonly clock: Clock
  readonly closing: AbortSignal
  readonly onFault: (error: unknown) => void
  readonly metrics: AvailabilityMetrics
}

interface ServiceState {
  readonly service: Service
  /** What decides how it is reached. */
  readonly connectionKey: string
  readonly remote: RemoteService | Error | undefined
  resources: readonly object[] | undefined
  isCurrent: boolean
  /** Until the next check of one that is not there. */
  retryMs: number
}

const resource = 'apiservices'
/** Between two checks of a service that is there, and at most between two of one that is not. */
const checkMs = 30_000
const firstRetryMs = 1_000

export class Aggregator {
  readonly #options: AggregatorOptions
  /** The store of APIService objects; absent: the kind is not served. */
  readonly #services: ResourceStore | undefined
  readonly #states = new Map<string, ServiceState>()
  readonly #timers = new Map<string, () => void>()
  /** Checks under way; true: something has happened since it began. */
  readonly #checking = new Map<string, boolean>()
  readonly #context: WriteContext
  readonly #discovery: RemoteDiscovery
  readonly #openApi: RemoteOpenApi
  #autoregister: Autoregister | undefined
  #work: Promise<void> = Promise.resolve()
  #remote: readonly RemoteVersion[] = []

  constructor(options: AggregatorOptions) {
    const { registry, clock, closing, profile } = options
    this.#options = options
    this.#services = registry.storeOf({ group: `apiregistration.${profile.apiDomain}`, resource })
    this.#context = serverContext(closing)
    this.#discovery = new RemoteDiscovery({ clock, profile })
    this.#openApi = new RemoteOpenApi(clock, closing)
  }

  /** Group versions of other servers; the same array means that nothing has changed. */
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
    const keeper = new Autoregister({
      registry,
      profile,
      services,
      context: this.#context,
      get: (name) => this.#states.get(name)?.service,
      names: () => [...this.#states.keys()],
      onStored: (service) => this.#upsert(service),
      onDeleted: (name) => this.#states.delete(name),
    })
    this.#autoregister = keeper
    const follow = { signal: closing, onFault: this.#options.onFault }
    await services.follow(
      {
        put: (service) => this.#upsert(service as unknown as Service),
        remove: ({ metadata }) => this.#delete(metadata.name ?? ''),
      },
      follow,
    )
    const changed = ({ metadata }: FrozenObject) => this.#onBackendChange(`${metadata.namespace}/${metadata.name}`)
    for (const behind of ['services', 'endpoints']) {
      const store = registry.storeOf({ group: '', resource: behind })
      await store?.follow({ put: changed, remove: changed }, { ...follow, changesOnly: true })
    }
    const unfollow = registry.served.onChange(() => this.#later(() => keeper.sync()))
    closing.addEventListener(
      'abort',
      () => {
        unfollow()
        for (const cancel of this.#timers.values()) cancel()
        for (const { remote } of this.#states.values()) if (remote !== undefined && !(remote instanceof Error)) remote.close()
      },
      { once: true },
    )
    this.#later(() => keeper.sync())
    await this.#work
  }

  /** The answer of another server; undefined for what is served here. */
  proxy(context: RequestContext, limitBytes: number): Promise<ApiResponse> | undefined {
    if (this.#remote.length === 0) return undefined
    const { path } = context.info
    const document = openapiPath.exec(path)
    const found = document ?? groupPath.exec(path) ?? corePath.exec(path)
    if (found === null) return undefined
    const { group = '', version = '' } = found.groups ?? {}
    const name = `${version}.${group}`
    const known = this.#states.get(name)
    if (known?.remote === undefined) return undefined
    if (document !== null && !this.#openApi.isProxied(name)) return undefined
    return this.#proxy(known, context, limitBytes)
  }

  async #proxy({ service, remote }: ServiceState, context: RequestContext, limitBytes: number): Promise<ApiResponse> {
    const available = (service.status?.conditions ?? []).some(({ type, status }) => type === 'Available' && status === 'True')
    if (!available || remote === undefined) return textResponse(503, 'service unavailable\n')
    if (remote instanceof Error) return textResponse(500, `${remote.message}\n`)
    return remote.proxy(context, limitBytes)
  }

  /** A service or its endpoints have changed: checks the APIServices that name it. */
  #onBackendChange(at: string): void {
    for (const [name, { remote, service }] of this.#states) {
      const { namespace = '', name: target = '' } = service.spec?.service ?? {}
      if (remote !== undefined && `${namespace}/${target}` === at) this.#check(name)
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
    else if (before?.remote !== undefined) this.#later(() => this.#updateStatus(name, local))
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
    const keeper = this.#autoregister
    // What is served here is given back at once.
    if (keeper !== undefined) this.#later(() => keeper.sync())
  }

  /** Nothing more goes the old way. */
  #disconnect(name: string, before: ServiceState | undefined): void {
    if (before?.remote === undefined) return
    if (!(before.remote instanceof Error)) before.remote.close()
    this.#openApi.delete(name)
    if (this.#states.get(name)?.remote === undefined) this.#options.metrics.remove(name)
    const places = [...this.#states.values()].flatMap(({ remote }) => (remote instanceof Error ? [] : (remote?.id ?? [])))
    this.#discovery.retain(new Set(places))
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
    const remote = [...this.#states.values()].flatMap(
      ({ service: { spec }, remote, resources, isCurrent: current }): RemoteVersion[] => {
        if (remote === undefined || spec === undefined) return []
        const { group = '', version = '', groupPriorityMinimum: groupPriority, versionPriority } = spec
        return [{ group, version, groupPriority, versionPriority, resources, current }]
      },
    )
    if (JSON.stringify(remote) !== JSON.stringify(this.#remote)) this.#remote = remote
  }

  /** Looks whether a service is there, now and from time to time; works beside everything else. */
  #check(name: string): void {
    if (this.#checking.has(name)) {
      this.#checking.set(name, true)
      return
    }
    this.#timers.get(name)?.()
    this.#checking.set(name, false)
    this.#checkNow(name)
      .catch((error: unknown) => {
        if (!this.#options.closing.aborted) this.#options.onFault(error)
        return checkMs
      })
      .then((ms) => {
        const again = this.#checking.get(name) === true
        this.#checking.delete(name)
        if (!this.#states.has(name) || this.#options.closing.aborted) return
        if (again) this.#check(name)
        else {
          const cancel = this.#options.clock.setTimeout(() => this.#recheck(name), ms)
          this.#timers.set(name, cancel)
        }
      })
  }

  /** By then the certificate that proves who we are may be another. */
  #recheck(name: string): void {
    const known = this.#states.get(name)
    if (known === undefined) return
    if (known.connectionKey === this.#connectionKeyOf(known.service)) this.#check(name)
    else this.#upsert(known.service)
  }

  /** @returns when to look again, in milliseconds from now. */
  async #checkNow(name: string): Promise<number> {
    const known = this.#states.get(name)
    if (known?.remote === undefined) return checkMs
    const verdict = await this.#availabilityOf(known)
    const now = this.#currentState(name, known)
    if (now === undefined) return checkMs
    this.#later(() => this.#updateStatus(name, verdict))
    if (verdict.status !== 'True' || known.remote instanceof Error) {
      now.isCurrent = false
      now.resources = undefined
      now.retryMs = Math.min(checkMs, now.retryMs * 2)
      this.#publish()
      return now.retryMs / 2
    }
    now.retryMs = firstRetryMs
    await this.#refreshDocuments(name, known, known.remote)
    return checkMs
  }

  /** What a server serves that is there, and what it publishes. */
  async #refreshDocuments(name: string, known: ServiceState, remote: RemoteService): Promise<void> {
    const { group = '', version = '' } = known.service.spec ?? {}
    const signal = this.#options.closing
    const told = await this.#discovery.resources(remote, { group, version, signal }).then(
      (resources) => ({ resources, current: true }),
      () => ({ resources: undefined, current: false }),
    )
    const now = this.#currentState(name, known)
    if (now === undefined) return
    Object.assign(now, told)
    this.#publish()
    await this.#openApi.refresh(name, { group, version, remote })
    if (this.#currentState(name, known) === undefined) this.#openApi.delete(name)
  }

  /** What is known by now, unless it is to be reached in another way. */
  #currentState(name: string, known: ServiceState): ServiceState | undefined {
    const now = this.#states.get(name)
    return this.#options.closing.aborted || now?.remote !== known.remote ? undefined : now
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

  async #updateStatus(name: string, verdict: AvailabilityStatus): Promise<void> {
    const services = this.#services
    const before = this.#states.get(name)?.service.status?.conditions?.find(({ type }) => type === 'Available')
    if (services === undefined || !this.#states.has(name)) return
    const available = verdict.status === 'True'
    const lost = !available && before?.status === 'True' ? { lost: verdict.reason ?? '' } : {}
    if (verdict !== local) this.#options.metrics.observe(name, { available, ...lost })
    if (before?.status === verdict.status && before.reason === verdict.reason && before.message === verdict.message) return
    const since = before?.status === verdict.status ? before.lastTransitionTime : undefined
    const lastTransitionTime = since ?? formatTime(this.#options.clock.now())
    const condition = { type: 'Available', ...verdict, lastTransitionTime }
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
