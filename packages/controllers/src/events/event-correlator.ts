import type { Clock } from '@krmkit/meta'
import { TokenBucket } from '@krmkit/meta/token-bucket'

/** What decides whether two events of one component are the same, similar, or about the same object. */
export interface CorrelatedEvent {
  /** Identifies the object. */
  readonly object: string
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly fieldPath: string
}

/** An event as it is written. */
export interface Observation {
  readonly message: string
  /** It stands for several events that differ only in their message. */
  readonly isCombined: boolean
  /** Name of the event to repeat; undefined for the first one. */
  readonly name: string | undefined
  readonly firstAtMs: number
  readonly count: number
  /** Notes the name with which the event was created. */
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
/** Of so many events that differ only in their message, the last and all later ones are combined, unless this time passes without one. */
const maxSimilar = 10
const similarMs = 10 * 60_000
/** Events of one type about one object: so many at once, then one every five minutes. */
const limit = { burst: 25, perSecond: 1 / 300 }

/**
 * Counts repeated events of one component, combines similar ones and drops those of objects with too many, by the rules of client-go.
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

  /** @returns what to write; undefined for an event that is dropped, which counts nevertheless */
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

/** Returns the entry of a key as the most recent one; the least recently used one is forgotten. */
function remembered<V>(entries: Map<string, V>, key: string, create: () => V): V {
  const entry = entries.get(key) ?? create()
  entries.delete(key)
  entries.set(key, entry)
  const [oldest = key] = entries.keys()
  if (entries.size > maxRemembered) entries.delete(oldest)
  return entry
}
