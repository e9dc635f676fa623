import { type Clock, type NamingProfile, type Random, systemClock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { FrozenObject, Registry } from '@krmkit/registry'
import { storeFeed } from '../access/store-feed.ts'
import type { SampledMetric } from '../metrics/sampled-metric.ts'
import type { Filter } from '../request/context.ts'
import type { Query } from '../request/query.ts'
import type { WatchCounts } from '../request/watch-counts.ts'
import { debugPages } from './debug-pages.ts'
import { adjustmentMs, FlowController } from './flow-controller.ts'
import { flowMetrics } from './flow-metrics.ts'
import { priorityAndFairness } from './priority-and-fairness.ts'

export interface FlowControlOptions {
  /** Total seats of the server. */
  readonly seats: number
  readonly requestTimeoutMs: number
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly profile: NamingProfile
  readonly registry: Registry
  readonly watches: WatchCounts
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/** The parts of priority and fairness that a server composes. */
export interface FlowControl {
  readonly filter: Filter
  readonly metrics: readonly SampledMetric[]
  /** Pages below `/debug/api_priority_and_fairness/`; undefined for other paths. */
  readonly pages: (path: string, query: Query) => ApiResponse | undefined
  /** Starts following the stored configuration. Until then, only the mandatory levels apply. */
  start(): Promise<void>
}

/** @throws RangeError when the number of seats is not positive. */
export function createFlowControl(options: FlowControlOptions): FlowControl {
  const { seats, clock, random, registry, watches, closing, requestTimeoutMs } = options
  if (!(seats > 0)) {
    throw new RangeError('priority and fairness requires a positive sum of the in-flight limits')
  }
  // The system clock has millisecond resolution and may be set back.
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
  const configuration = new ConfigurationFollower(controller)
  return {
    filter: priorityAndFairness(controller, { clock, waitMs: requestTimeoutMs / 4, refresh: () => configuration.refresh() }),
    metrics: flowMetrics(controller),
    pages: debugPages({ controller, clock, now }),
    async start() {
      await configuration.start(options)
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

/** Follows the stored flow schemas and priority levels and applies their changes. */
class ConfigurationFollower {
  readonly #controller: FlowController
  readonly #schemas = new Map<string, FrozenObject>()
  readonly #levels = new Map<string, FrozenObject>()
  #catchUps: readonly (() => void)[] = []
  #changed = false

  constructor(controller: FlowController) {
    this.#controller = controller
  }

  async start({ registry, profile, closing, onError }: FlowControlOptions): Promise<void> {
    const feed = storeFeed({ registry, closing, onError })
    const group = `flowcontrol.apiserver.${profile.apiDomain}`
    const follow = (resource: string, objects: Map<string, FrozenObject>) => {
      const changed = () => this.#scheduleRefresh()
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
    const catchUps = await Promise.all([
      follow('prioritylevelconfigurations', this.#levels),
      follow('flowschemas', this.#schemas),
    ])
    this.#catchUps = catchUps.filter((catchUp) => catchUp !== undefined)
    this.refresh()
  }

  /** Applies changes; cheap when there are none. */
  refresh(): void {
    for (const catchUp of this.#catchUps) catchUp()
    if (!this.#changed) return
    this.#changed = false
    this.#controller.digest({ levels: [...this.#levels.values()], schemas: [...this.#schemas.values()] })
  }

  /** Schedules a refresh, because requests may be waiting while no further request triggers one. */
  #scheduleRefresh(): void {
    if (this.#changed) return
    this.#changed = true
    queueMicrotask(() => this.refresh())
  }
}
