import { type Clock, type NamingProfile, type Random, systemClock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { FrozenObject, Registry } from '@krmkit/registry'
import { storeFeed } from '../access/store-feed.ts'
import { priorityAndFairness } from '../filters/priority-and-fairness.ts'
import type { Query } from '../query.ts'
import type { Filter } from '../request-context.ts'
import { debugPages } from './debug-pages.ts'
import { adjustmentMs, FlowController } from './flow-controller.ts'
import { flowMetrics, type SampledMetric } from './flow-metrics.ts'
import type { WatchCounts } from './watch-counts.ts'

export interface FlowControlOptions {
  /** Seats of the whole server. */
  readonly seats: number
  readonly requestTimeoutMs: number
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile: NamingProfile
  readonly registry: Registry
  readonly watches: WatchCounts
  /** Everything ends when it aborts. */
  readonly closing: AbortSignal
  readonly onFault: (error: unknown) => void
}

/** Priority and fairness as parts of a server. */
export interface FlowControl {
  readonly filter: Filter
  readonly metrics: readonly SampledMetric[]
  /** Pages below `/debug/api_priority_and_fairness/`; undefined for other paths. */
  readonly pages: (path: string, query: Query) => ApiResponse | undefined
  /** Follows the stored objects from now on. Until then the mandatory levels alone are in force. */
  start(): Promise<void>
}

/** @throws RangeError without seats: priority and fairness needs something to divide. */
export function createFlowControl(options: FlowControlOptions): FlowControl {
  const { seats, clock, random, registry, watches, closing, requestTimeoutMs } = options
  if (!(seats > 0)) {
    throw new RangeError('priority and fairness needs limits of requests in flight that add up to something positive')
  }
  // The machine's clock has whole milliseconds, and may be set back.
  const now = clock === systemClock ? () => performance.now() : () => clock.now()
  const controller = new FlowController({
    seats,
    now,
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
    seed: seedOf(random.bytes(8)),
    work: {
      objectCount: (group, resource) => registry.storeOf({ group, resource })?.count(),
      watchCount: (info) => watches.of(info),
    },
  })
  const followed = new ConfigurationFollower(controller)
  return {
    filter: priorityAndFairness(controller, { clock, waitMs: requestTimeoutMs / 4, refresh: () => followed.refresh() }),
    metrics: flowMetrics(controller),
    pages: debugPages({ controller, clock, now }),
    async start() {
      await followed.start(options)
      scheduleAdjustments(controller, { clock, closing })
    },
  }
}

function seedOf(bytes: Uint8Array): { readonly a: number; readonly b: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { a: view.getInt32(0), b: view.getInt32(4) }
}

function scheduleAdjustments(
  controller: FlowController,
  { clock, closing }: { readonly clock: Clock; readonly closing: AbortSignal },
): void {
  let cancel = (): void => undefined
  const schedule = (): void => {
    cancel = clock.setTimeout(() => {
      controller.adjust()
      schedule()
    }, adjustmentMs)
  }
  if (closing.aborted) return
  schedule()
  closing.addEventListener('abort', () => cancel(), { once: true })
}

/** The stored flow schemas and priority levels, put in force whenever they change. */
class ConfigurationFollower {
  readonly #controller: FlowController
  readonly #schemas = new Map<string, FrozenObject>()
  readonly #levels = new Map<string, FrozenObject>()
  #catchUps: readonly (() => void)[] = []
  #changed = false

  constructor(controller: FlowController) {
    this.#controller = controller
  }

  async start({ registry, profile, closing, onFault }: FlowControlOptions): Promise<void> {
    const feed = storeFeed({ registry, closing, onFault })
    const group = `flowcontrol.apiserver.${profile.apiDomain}`
    const follow = (resource: string, objects: Map<string, FrozenObject>) => {
      const changed = () => this.#change()
      return feed.follow(
        { group, resource },
        {
          put(object) {
            objects.set(object.metadata.name ?? '', object as FrozenObject)
            changed()
          },
          remove(object) {
            objects.delete(object.metadata.name ?? '')
            changed()
          },
          clear() {
            objects.clear()
            changed()
          },
        },
      )
    }
    const followed = await Promise.all([
      follow('prioritylevelconfigurations', this.#levels),
      follow('flowschemas', this.#schemas),
    ])
    this.#catchUps = followed.filter((catchUp) => catchUp !== undefined)
    this.refresh()
  }

  /** Cheap when nothing has changed. */
  refresh(): void {
    for (const catchUp of this.#catchUps) catchUp()
    if (!this.#changed) return
    this.#changed = false
    this.#controller.digest({ levels: [...this.#levels.values()], schemas: [...this.#schemas.values()] })
  }

  /** Requests may be waiting while no further one comes. */
  #change(): void {
    if (this.#changed) return
    this.#changed = true
    queueMicrotask(() => this.refresh())
  }
}
