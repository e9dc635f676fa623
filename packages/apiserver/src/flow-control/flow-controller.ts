import type { FrozenObject } from '@krmkit/registry'
import type { RequestContext } from '../request/context.ts'
import { createFlowMatcher } from './flow-matcher.ts'
import { FlowStatistics } from './flow-statistics.ts'
import { levelConfigurations, withMandatorySchemas } from './level-configuration.ts'
import { PriorityLevel } from './priority-level.ts'
import { divideSeats } from './seat-allocation.ts'
import { SeatRequest, type WaitOutcome } from './seat-request.ts'
import { type FlowHash, hashText } from './shuffle-shard.ts'
import { affectsWatches, estimateWork, type WorkSources } from './work-estimate.ts'

export interface FlowControllerOptions {
  /** Total seats of the server. */
  readonly seats: number
  /** Monotonic time in milliseconds, finer than 1 ms where possible. */
  readonly now: () => number
  /** Schedules a callback. Returns a function that cancels it. */
  readonly setTimeout: (fn: () => void, ms: number) => () => void
  /** Secret seed of shuffle sharding. */
  readonly seed: FlowHash
  readonly work: WorkSources
}

/** Interval of the adjustments that lend idle seats to other levels. */
export const adjustmentMs = 10_000

const schemaHeader = 'x-kubernetes-pf-flowschema-uid'
const levelHeader = 'x-kubernetes-pf-prioritylevel-uid'

/** A flow schema in force. */
export interface FlowSchemaState {
  readonly name: string
  readonly level: PriorityLevel
  readonly distinguisherMethod: 'ByUser' | 'ByNamespace' | undefined
  /** Seeded hash of the name. */
  readonly hash: FlowHash
  readonly statistics: FlowStatistics
  /** Response headers with the uids of schema and level; undefined without stored objects. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

type ClassifiedRequest = Pick<RequestContext, 'info' | 'user' | 'query'>
type Classifier = (request: ClassifiedRequest) => FlowSchemaState

/**
 * Priority and fairness of one server: classifies requests and decides which of them execute.
 *
 *     flow schemas -> priority level, flow -> queue -> seats
 */
export class FlowController {
  readonly #options: FlowControllerOptions
  #levels = new Map<string, PriorityLevel>()
  #classifier: Classifier | undefined
  #statistics = new Map<string, FlowStatistics>()
  #nominalSum = 0
  fairFraction = 0

  constructor(options: FlowControllerOptions) {
    this.#options = options
    this.digest({ levels: [], schemas: [] })
  }

  /** Applies a new configuration while requests execute and wait. */
  digest({ levels, schemas }: { readonly levels: readonly FrozenObject[]; readonly schemas: readonly FrozenObject[] }): void {
    const former = this.#levels
    this.#levels = new Map()
    for (const configuration of levelConfigurations(levels)) {
      const level = former.get(configuration.name) ?? new PriorityLevel(configuration, this.#options)
      level.configuration = configuration
      level.quiescing = false
      this.#levels.set(level.name, level)
    }
    this.#classifier = this.#digestSchemas(schemas)
    // Deleted levels keep their seats until they are idle.
    for (const [name, level] of former) {
      if (this.#levels.has(name) || level.queues.isIdle) continue
      level.quiescing = true
      this.#levels.set(name, level)
    }
    this.#shareSeats()
  }

  /** The flow schema of a request. */
  classify(request: ClassifiedRequest): FlowSchemaState {
    return (this.#classifier as Classifier)(request)
  }

  /**
   * Requests seats.
   *
   * @returns a request that executes or waits; undefined when it is rejected.
   */
  start(context: ClassifiedRequest, schema: FlowSchemaState): SeatRequest | undefined {
    const { level, statistics } = schema
    const distinguisher = distinguisherOf(context, schema)
    const hash = level.queues.queuing.queues === 0 ? undefined : hashText(schema.hash, distinguisher)
    const watches = affectsWatches(context.info) ? this.#countWatches(context, statistics) : 0
    const work = estimateWork(context, this.#options.work, level.maxRequestSeats, watches)
    statistics.estimatedSeats.observe(Math.max(work.initialSeats, work.finalSeats))
    const request = new SeatRequest(context, { statistics, distinguisher, hash }, work)
    return this.#recordOutcome(level, level.queues.start(request)) === 'rejected' ? undefined : request
  }

  /** Waits in the queue for `waitMs` at most. */
  wait(request: SeatRequest, { level }: FlowSchemaState, options: WaitOptions): Promise<WaitOutcome> {
    const { waitMs, signal } = options
    if (request.executing) return Promise.resolve('execute')
    return new Promise((resolve) => {
      const leave = (outcome: 'time-out' | 'cancelled'): void => level.queues.withdraw(request, outcome)
      const cancel = this.#options.setTimeout(() => leave('time-out'), waitMs)
      const abort = (): void => leave('cancelled')
      request.settle = (outcome) => {
        cancel()
        signal.removeEventListener('abort', abort)
        const waitedSeconds = (this.#options.now() - request.arrivedAt) / 1000
        if (outcome !== 'execute') request.statistics.waitToReject.observe(waitedSeconds)
        if (outcome === 'time-out') level.retryAfter.rejected(this.#options.now())
        resolve(outcome)
        this.#reap(level)
      }
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
    })
  }

  /** Ends a request. */
  finish(request: SeatRequest, { level, statistics }: FlowSchemaState): void {
    const seconds = level.queues.finish(request) / 1000
    if (request.context.info.verb === 'watch') statistics.watchExecution.observe(seconds)
    else statistics.regularExecution.observe(seconds)
    if (level.quiescing) this.#reap(level)
  }

  /** Releases the seats of a request until `resume`. */
  pause(request: SeatRequest, { level }: FlowSchemaState): void {
    level.queues.finish(request, false)
    this.#reap(level)
  }

  /** Requests seats again for a paused request. */
  resume(request: SeatRequest, { level }: FlowSchemaState): StartOutcome {
    request.resumed = true
    return this.#recordOutcome(level, level.queues.start(request))
  }

  /** Lends idle seats to busy levels, by the demand since the last adjustment. */
  adjust(): void {
    const now = this.#options.now()
    const levels = [...this.#levels.values()]
    for (const { demand, queues } of levels) {
      queues.advance()
      demand.update(queues.demand.reset(now))
    }
    this.#borrow(levels)
  }

  /** Levels sorted by name. */
  levels(): readonly PriorityLevel[] {
    return [...this.#levels.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Statistics of each flow schema, in matching order. */
  statistics(): Iterable<FlowStatistics> {
    return this.#statistics.values()
  }

  #recordOutcome(level: PriorityLevel, outcome: StartOutcome): StartOutcome {
    if (outcome === 'rejected') level.retryAfter.rejected(this.#options.now())
    return outcome
  }

  #countWatches({ info }: ClassifiedRequest, statistics: FlowStatistics): number {
    const watches = this.#options.work.watchCount(info)
    statistics.watchCount.observe(watches)
    return watches
  }

  #digestSchemas(objects: readonly FrozenObject[]): Classifier {
    const former = this.#statistics
    this.#statistics = new Map()
    const schemas = withMandatorySchemas(objects, (schema) => this.#levels.has(levelOf(schema)))
    const states = new Map(schemas.map((schema) => [schema, this.#schemaState(schema, former)]))
    const fallback = [...states.values()].find(({ name }) => name === 'catch-all') as FlowSchemaState
    const matchOf = createFlowMatcher(schemas)
    return (request) => {
      const match = matchOf(request)
      return (match === undefined ? undefined : states.get(match.schema)) ?? fallback
    }
  }

  #schemaState(schema: FrozenObject, former: ReadonlyMap<string, FlowStatistics>): FlowSchemaState {
    const { name = '', uid } = schema.metadata
    const level = this.#levels.get(levelOf(schema)) as PriorityLevel
    const key = `${name}/${level.name}`
    const statistics = former.get(key) ?? new FlowStatistics(name, level.name)
    this.#statistics.set(key, statistics)
    const { distinguisherMethod } = (schema as SchemaSpec).spec ?? {}
    return {
      name,
      level,
      statistics,
      distinguisherMethod: distinguisherMethod?.type,
      hash: hashText(this.#options.seed, name),
      headers:
        uid === undefined || level.configuration.uid === ''
          ? undefined
          : { [schemaHeader]: uid, [levelHeader]: level.configuration.uid },
    }
  }

  #shareSeats(): void {
    const { seats } = this.#options
    const levels = [...this.#levels.values()]
    const shareSum = levels.reduce((sum, { configuration }) => sum + configuration.shares, 0)
    for (const level of levels) level.configure({ shareSum, seats })
    this.#nominalSum = levels.reduce((sum, { nominalSeats }) => sum + nominalSeats, 0)
    this.adjust()
  }

  #borrow(levels: readonly PriorityLevel[]): void {
    const divided = divideSeats(
      this.#nominalSum,
      levels.map((level) => level.claim()),
    )
    if (divided !== undefined) this.fairFraction = divided.fairFraction
    for (const [i, level] of levels.entries()) {
      if (divided !== undefined) level.currentSeats = Math.round(divided.seats[i] as number)
      level.apply()
    }
  }

  /** Deletes a quiescing level after its last request. */
  #reap(level: PriorityLevel): void {
    if (!level.quiescing || !level.queues.isIdle) return
    if (this.#levels.get(level.name) !== level) return
    this.#levels.delete(level.name)
    this.#shareSeats()
  }
}

export type StartOutcome = 'executing' | 'waiting' | 'rejected'

export interface WaitOptions {
  readonly waitMs: number
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

interface SchemaSpec {
  readonly spec?: {
    readonly priorityLevelConfiguration?: { readonly name?: string }
    readonly distinguisherMethod?: { readonly type?: 'ByUser' | 'ByNamespace' } | null
  }
}

function levelOf(schema: FrozenObject): string {
  return (schema as SchemaSpec).spec?.priorityLevelConfiguration?.name ?? ''
}

function distinguisherOf({ info, user }: ClassifiedRequest, { distinguisherMethod }: FlowSchemaState): string {
  if (distinguisherMethod === 'ByUser') return user.username
  return distinguisherMethod === 'ByNamespace' ? info.namespace : ''
}
