import { RandomChoices } from '@krmkit/base/random-choices'
import type { Fault } from './fault.ts'
import { checkMembers, type Members } from './known-members.ts'
import type { RequestAttributes } from './request-attributes.ts'
import { checkMatch, type Match } from './request-match.ts'
import { TestingError } from './testing-error.ts'

/** A kind of random fault. */
export type RandomFaultKind =
  | 'conflict'
  | 'tooManyRequests'
  | 'unavailable'
  | 'failedAfterWrite'
  | 'lost'
  | 'unreachable'
  | 'latency'
  | 'stale'
  | 'compacted'
  | 'watchExpired'
  | 'watchClosed'
  | 'watchDropped'
  | 'watchDelayed'
  | 'bookmarksLost'

/** Options of random faults, which are deterministic for a seed and a sequence of requests. */
export interface RandomFaultOptions {
  /** Default: a random one. Messages of the faults contain it. */
  readonly seed?: number
  /** Fraction of requests that fail, from 0 to 1. */
  readonly rate: number
  /** Kinds of faults. Default: all. */
  readonly kinds?: readonly RandomFaultKind[]
  /** Requests that may fail. Default: all except those of controllers and of `cluster.client`. */
  readonly match?: Match
}

const optionMembers: Members<RandomFaultOptions> = { seed: true, rate: true, kinds: true, match: true }

/** Creates a fault for a request, or undefined if the kind does not apply to it. */
type Maker = (request: RequestAttributes, random: RandomChoices) => Fault | undefined

const changes = new Set(['update', 'patch', 'delete'])
const writes = new Set(['create', 'deletecollection', ...changes])
const reads = new Set(['get', 'list'])

const makers: Readonly<Record<RandomFaultKind, Maker>> = {
  conflict: ({ verb }) => (changes.has(verb) ? { fail: 409 } : undefined),
  tooManyRequests: () => ({ fail: 429, retryAfterSeconds: 1 }),
  unavailable: () => ({ fail: 503 }),
  failedAfterWrite: ({ verb }) => (writes.has(verb) ? { fail: 504, afterWrite: true } : undefined),
  lost: ({ verb }) => (writes.has(verb) ? { lose: true } : undefined),
  unreachable: () => ({ unreachable: true }),
  latency: (_, random) => ({ delayMs: 1 + random.below(2000) }),
  stale: ({ verb }) => (reads.has(verb) ? { stale: true } : undefined),
  compacted: ({ verb, query }) => (verb === 'list' && query.includes('continue=') ? { compact: true } : undefined),
  watchExpired: ({ verb }, random) => ofWatch(verb, { end: 'expired', afterEvents: random.below(4) }),
  watchClosed: ({ verb }, random) => ofWatch(verb, { end: 'closed', afterEvents: random.below(4) }),
  watchDropped: ({ verb }, random) => ofWatch(verb, { end: 'dropped', afterEvents: random.below(4) }),
  watchDelayed: ({ verb }, random) => ofWatch(verb, { delayMs: 1 + random.below(2000) }),
  bookmarksLost: ({ verb }) => ofWatch(verb, { bookmarks: 'lost' }),
}

function ofWatch(verb: string, watch: Extract<Fault, { watch: unknown }>['watch']): Fault | undefined {
  return verb === 'watch' ? { watch } : undefined
}

const rateSteps = 1_000_000

/** Chooses random faults. */
export class RandomFaults {
  readonly seed: number
  readonly match: Match | undefined
  readonly #options: RandomFaultOptions
  readonly #random: RandomChoices

  /** @throws TestingError `InvalidFault`, `InvalidOption` */
  constructor(options: RandomFaultOptions, fallbackSeed: number) {
    checkMembers('faults', options, optionMembers)
    const { rate, kinds = [], seed = fallbackSeed, match } = options
    if (match !== undefined) checkMatch(match)
    if (!(rate >= 0 && rate <= 1)) throw invalid(`rate ${rate} is not between 0 and 1`)
    if (!Number.isSafeInteger(seed)) throw invalid(`seed ${seed} is not an integer`)
    if (options.kinds?.length === 0) throw invalid('kinds is empty, so that nothing fails; leave it out for all kinds')
    for (const kind of kinds) {
      if (!Object.hasOwn(makers, kind)) throw invalid(`unknown kind "${kind}"; known kinds: ${Object.keys(makers).join(', ')}`)
    }
    this.seed = seed
    this.match = match
    this.#options = options
    this.#random = new RandomChoices(seed)
  }

  /** Returns the fault of the next request, if any. */
  take(request: RequestAttributes): Fault | undefined {
    const { rate, kinds = Object.keys(makers) as RandomFaultKind[] } = this.#options
    if (this.#random.below(rateSteps) >= rate * rateSteps) return undefined
    const suitable = kinds.map((kind) => makers[kind](request, this.#random)).filter((fault) => fault !== undefined)
    if (suitable.length === 0) return undefined
    const fault = this.#random.pick(suitable)
    return 'fail' in fault ? { ...fault, message: `a fault of the test, seed ${this.seed}` } : fault
  }
}

function invalid(message: string): TestingError {
  return new TestingError({ code: 'InvalidFault', message })
}
