import { seededRandom } from '@krmkit/meta'
import {
  type Choose,
  type Deviations,
  EventOrder,
  formatOrder,
  givenOrder,
  type OrderStep,
  parseOrder,
  randomOrder,
  shrinkOrder,
} from './event-order.ts'
import type { TestHost } from './host.ts'
import { type InProcessTestServer, startTestServer } from './in-process-server.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { checkMembers } from './known-members.ts'
import { serverOptionNames } from './server-options.ts'
import { TestingError } from './testing-error.ts'

export interface ExploreOptions extends TestServerOptions {
  /** Number of orders, with the seeds 1, 2, 3 ... Default 100. */
  readonly runs?: number
  /** Seeds of the orders, instead of `runs`. */
  readonly seeds?: readonly number[]
  /** One order, as a failure prints it, instead of `runs` and `seeds`. */
  readonly order?: string
  /** Maximum number of runs to shrink a failing order. Default 200. */
  readonly shrinkRuns?: number
  /** Number of steps after which the order of arrival is used. Default 10000. */
  readonly maxSteps?: number
}

/** The result of an exploration. */
export interface Exploration {
  readonly runs: number
  /** Number of distinct orders. */
  readonly orders: number
}

/** Thrown when a test fails in an order. */
export class OrderFailure extends TestingError {
  /** Seed of the order that failed first; undefined for the order of arrival and for a given order. */
  readonly seed: number | undefined
  /** The shortest failing order, for `explore({ order })`. */
  readonly order: string
  /** The steps of the shortest failing order. */
  readonly steps: readonly OrderStep[]

  constructor(fields: Pick<OrderFailure, 'seed' | 'order' | 'steps'> & { readonly cause: unknown }) {
    super({ code: 'OrderFailed', message: describeFailure(fields), cause: fields.cause })
    this.seed = fields.seed
    this.order = fields.order
    this.steps = fields.steps
  }
}

const exploreNames = { runs: true, seeds: true, order: true, shrinkRuns: true, maxSteps: true } as const

/** `explore` with test servers on a host. */
export async function exploreOn(
  host: TestHost,
  options: ExploreOptions,
  test: (cluster: TestServer) => Promise<void> | void,
): Promise<Exploration> {
  checkMembers('explore', options, { ...exploreNames, ...serverOptionNames })
  const { runs, seeds, order, shrinkRuns = 200, maxSteps = 10_000, ...serverOptions } = options
  if (typeof test !== 'function') throw invalid('explore needs a test: explore({ runs: 100 }, async (cluster) => { ... })')
  checkCounts({ shrinkRuns: [shrinkRuns, 0], maxSteps: [maxSteps, 1] })
  const orders = ordersOf({ runs, seeds, order })
  const { random: _, ...server } = serverOptions.server ?? {}
  const startAtMs = options.startAtMs ?? Date.UTC(2024, 0, 1)
  const template = await startTestServer({ ...serverOptions, startAtMs, server: { ...server, random: seededRandom(1) } }, host)
  const run = (choose: Choose) => runOrder(template, { choose, maxSteps, test })
  try {
    const seen = new Set<string>()
    for (const { seed, choose } of orders) {
      const outcome = await run(choose)
      seen.add(formatOrder(outcome.deviations))
      if (outcome.failure !== undefined) throw await shortestFailure(outcome, { seed, run, shrinkRuns })
    }
    return { runs: orders.length, orders: seen.size }
  } finally {
    await template.close()
  }
}

interface SeededOrder {
  readonly seed: number | undefined
  readonly choose: Choose
}

function ordersOf({ runs, seeds, order }: { [K in 'runs' | 'seeds' | 'order']: ExploreOptions[K] | undefined }): SeededOrder[] {
  const given = Object.entries({ runs, seeds, order }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (given.length > 1) throw invalid(`only one of runs, seeds and order; given: ${given.join(', ')}`)
  if (order !== undefined) return [{ seed: undefined, choose: givenOrder(parseOrder(order)) }]
  if (runs !== undefined && !(Number.isSafeInteger(runs) && runs >= 1)) throw invalid(`runs: ${runs} is not a positive integer`)
  if (seeds !== undefined && (!Array.isArray(seeds) || seeds.length === 0)) throw invalid('seeds is a list of integers')
  const chosen = seeds ?? Array.from({ length: (runs ?? 100) - 1 }, (_, i) => i + 1)
  const wrong = chosen.find((seed) => !Number.isSafeInteger(seed))
  if (wrong !== undefined) throw invalid(`seeds: ${wrong} is not an integer`)
  const arrival = { seed: undefined, choose: givenOrder(new Map()) }
  return [...(seeds === undefined ? [arrival] : []), ...chosen.map((seed) => ({ seed, choose: randomOrder(seed) }))]
}

/** @param counts values with their minimums */
function checkCounts(counts: Readonly<Record<string, readonly [number, number]>>): void {
  for (const [name, [value, min]] of Object.entries(counts))
    if (!Number.isSafeInteger(value) || value < min) throw invalid(`${name}: ${value} is not an integer from ${min}`)
}

function invalid(message: string): TestingError {
  return new TestingError({ code: 'InvalidOrder', message })
}

interface Outcome {
  readonly steps: readonly OrderStep[]
  readonly deviations: Deviations
  readonly failure: { readonly cause: unknown } | undefined
}

interface RunOptions {
  readonly choose: Choose
  readonly maxSteps: number
  readonly test: (cluster: TestServer) => Promise<void> | void
}

async function runOrder(template: InProcessTestServer, { choose, maxSteps, test }: RunOptions): Promise<Outcome> {
  const cluster = template.forkWith({ random: seededRandom(2) })
  const order = new EventOrder({ choose, maxSteps, quiet: () => cluster.quiet() })
  cluster.faults.gate = order
  let failure: Outcome['failure']
  try {
    await test(cluster)
  } catch (cause) {
    failure = { cause }
  }
  const outcome = { steps: [...order.steps], deviations: order.deviations, failure }
  order.open()
  await cluster.close()
  return outcome
}

async function shortestFailure(
  first: Outcome,
  options: { readonly seed: number | undefined; readonly run: (choose: Choose) => Promise<Outcome>; readonly shrinkRuns: number },
): Promise<OrderFailure> {
  let shortest = first
  let left = options.shrinkRuns
  await shrinkOrder(first.deviations, async (deviations) => {
    if (left-- <= 0) return undefined
    const outcome = await options.run(givenOrder(deviations))
    if (outcome.failure === undefined) return undefined
    if (outcome.deviations.size <= shortest.deviations.size) shortest = outcome
    return outcome.deviations
  })
  const { steps, deviations, failure } = shortest
  return new OrderFailure({ seed: options.seed, order: formatOrder(deviations), steps, cause: failure?.cause })
}

const shownSteps = 40

function describeFailure({ seed, order, steps, cause }: Pick<OrderFailure, 'seed' | 'order' | 'steps' | 'cause'>): string {
  const why = cause instanceof Error ? cause.message : String(cause)
  const source = seed === undefined ? '' : ` (found with seed ${seed})`
  const from = Math.max(0, steps.length - shownSteps)
  const lines = steps.slice(from).map(({ label, overtaken }, i) => {
    const mark = overtaken > 0 ? `  <-- before ${overtaken} that came earlier` : ''
    return `  ${from + i}. ${label}${mark}`
  })
  return [
    `the test fails in the order ${JSON.stringify(order)}${source}: ${why}`,
    `run it again with explore({ order: ${JSON.stringify(order)} }, ...); the steps:`,
    ...(from > 0 ? [`  (${from} steps before)`] : []),
    ...lines,
  ].join('\n')
}
