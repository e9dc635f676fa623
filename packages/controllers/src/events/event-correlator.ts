import { TokenBucket } from '@krmkit/base/token-bucket'
import type { Clock } from '@krmkit/meta'

/** The fields that decide whether two events of one component are equal, similar, or about the same object. */
export interface CorrelatedEvent {
  /** Identifies the object. */
  readonly object: string
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly fieldPath: string
}

/** What the recorder writes for an event. */
export interface Observation {
  readonly message: string
  /** Whether the event represents several events that differ only in their message. */
  readonly isCombined: boolean
  /** Name of the event whose count is increased; undefined for the first occurrence. */
  readonly name: string | undefined
  readonly firstAtMs: number
  readonly count: number
  /** Records the name of the created event. */
  named(name: string): void
}

interface Similar {
  readonly messages: Set<string>
  lastAtMs: number
}

interface Counted {
  name: string | undefined
  count: number
  readonly firstAtMs: number
}

const maxRemembered = 4096
/** Events that differ only in their message are combined from the tenth on, until `similarMs` pass without such an event. */
const maxSimilar = 10
const similarMs = 10 * 60_000
/** Rate limit of events of one type about one object: a burst of 25, then one every five minutes. */
const limit = { burst: 25, perSecond: 1 / 300 }

/**
 * Counts repeated events of one component, combines similar events and rate-limits the events of each object, by the rules
 * of client-go.
 *
 *     Created pod: a ... i        nine events
 *     Created pod: j              (combined from similar events): Created pod: j, count 1
 *     Created pod: k              the same event: (combined from similar events): Created pod: k, count 2
 */
export class EventCorrelator {
  readonly #clock: Pick<Clock, 'now'>
  readonly #similar = new Map<string, Similar>()
  readonly #counted = new Map<string, Counted>()
  readonly #limits = new Map<string, TokenBucket>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** @returns what to write; undefined for a dropped event, which still increases the count */
  observe(event: CorrelatedEvent): Observation | undefined {
    const { object, type, reason, message, fieldPath } = event
    const isCombined = this.#isCombined(event)
    const key = isCombined ? `${object} ${type} ${reason}` : JSON.stringify([object, type, reason, message, fieldPath])
    const known = remembered(this.#counted, key, () => ({ name: undefined, count: 0, firstAtMs: this.#clock.now() }))
    known.count++
    const bucket = remembered(this.#limits, `${object} ${type}`, () => new TokenBucket(limit, this.#clock))
    if (!bucket.take()) return undefined
    const { count, name, firstAtMs } = known
    const named = (created: string) => {
      known.name = created
    }
    return {
      message: isCombined ? `(combined from similar events): ${message}` : message,
      isCombined,
      name,
      firstAtMs,
      count,
      named,
    }
  }

  #isCombined({ object, type, reason, message }: CorrelatedEvent): boolean {
    const nowMs = this.#clock.now()
    const similar = remembered(this.#similar, `${object} ${type} ${reason}`, () => ({
      messages: new Set<string>(),
      lastAtMs: nowMs,
    }))
    if (nowMs - similar.lastAtMs > similarMs) similar.messages.clear()
    similar.messages.add(message)
    similar.lastAtMs = nowMs
    if (similar.messages.size < maxSimilar) return false
    const [oldest = ''] = similar.messages
    similar.messages.delete(oldest)
    return true
  }
}

/**
 * Returns the entry of a key and marks it as most recently used. Evicts the least recently used entry above the size limit.
 */
function remembered<V>(entries: Map<string, V>, key: string, create: () => V): V {
  const entry = entries.get(key) ?? create()
  entries.delete(key)
  entries.set(key, entry)
  const [oldest = key] = entries.keys()
  if (entries.size > maxRemembered) entries.delete(oldest)
  return entry
}
