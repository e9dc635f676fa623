import { type Clock, type FakeClock, fakeClock } from '@krmkit/meta'
import { parseDurationMs } from '@krmkit/meta/time'
import { checkFunctions } from './option-kinds.ts'
import { TestingError } from './testing-error.ts'

/** A duration: the sum of its parts. */
export interface Span {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

/** The clock of a test server. Pass it to the code under test. */
export interface TestClock extends Clock {
  /**
   * Advances time, stopping and settling at every timer of a controller, a client or the test. Timers of the server itself (watch
   * timeouts, request timeouts) fire in between.
   *
   * @param span milliseconds, text such as `1h30m`, or parts
   * @throws TestingError `RealClock` when the server has another clock, `InvalidDuration`
   * @example
   * import { createTestServer } from '@krmkit/testing'
   * const cluster = await createTestServer()
   * await cluster.clock.advance({ hours: 25 })
   */
  advance(span: Span | number | string): Promise<void>
}

const partMs: Readonly<Record<keyof Span, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
}

/**
 * Converts a duration to milliseconds: a number of them, text such as `1h30m`, or the sum of parts.
 *
 * @throws TestingError `InvalidDuration`
 */
export function spanMs(span: Span | number | string): number {
  const ms = typeof span === 'string' ? textMs(span) : typeof span === 'number' ? span : sumMs(span)
  if (!Number.isFinite(ms)) throw invalidDuration(`${ms} is not a number of milliseconds`)
  if (ms < 0) throw invalidDuration(`time cannot go back by ${-ms} ms`)
  return ms
}

function textMs(text: string): number {
  try {
    return parseDurationMs(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw invalidDuration(`${why}; write 1h30m, 90s or 250ms`, cause)
  }
}

function sumMs(span: Span): number {
  const isRecord = typeof span === 'object' && span !== null && !(span instanceof Date)
  if (!isRecord) throw invalidDuration(`${String(span)} is not a duration`)
  if (Object.keys(span).length === 0) throw invalidDuration(`a duration has one of ${Object.keys(partMs).join(', ')}`)
  let sum = 0
  for (const [part, value] of Object.entries(span) as [keyof Span, number | undefined][]) {
    const known = Object.keys(partMs).join(', ')
    if (!Object.hasOwn(partMs, part)) throw invalidDuration(`unknown part ${JSON.stringify(part)}; known parts: ${known}`)
    if (value === undefined) continue
    if (typeof value !== 'number') throw invalidDuration(`${part} is not a number`)
    sum += value * partMs[part]
  }
  return sum
}

function invalidDuration(message: string, cause?: unknown): TestingError {
  return new TestingError({ code: 'InvalidDuration', message, cause })
}

/**
 * Returns a clock that is ahead of another clock, or behind it for negative milliseconds, to simulate a client with a wrong
 * time. The duration of timers is unchanged.
 *
 * @example
 * import { createTestServer, skewedClock } from '@krmkit/testing'
 * const cluster = await createTestServer()
 * skewedClock(cluster.clock, -90_000).now() // the time of the cluster, less 90 seconds
 */
export function skewedClock(clock: Clock, skewMs: number): Clock {
  checkFunctions('skewedClock', clock, ['now', 'setTimeout'])
  if (!Number.isFinite(skewMs)) throw invalidDuration(`${skewMs} is not a number of milliseconds`)
  return { now: () => clock.now() + skewMs, setTimeout: (fn, ms) => clock.setTimeout(fn, ms) }
}

/** The clock of a test server, which can be reset. */
export class ResettableClock implements TestClock {
  /** The clock of the server, whose timers do not stop an advance. */
  readonly background: Clock
  /** A clock whose timers fire only at the end of an advance, unless `isObserved`. */
  readonly deferred: Clock
  /** Whether deferred timers stop an advance like other timers. */
  isObserved: () => boolean = () => false
  readonly #settle: () => Promise<void>
  readonly #timers = new Set<Timer>()
  readonly #deferredTimers = new Set<Timer>()
  #inner: FakeClock

  constructor(startAtMs: number, settle: () => Promise<void>) {
    this.#inner = fakeClock(startAtMs)
    this.#settle = settle
    this.background = { now: () => this.#inner.now(), setTimeout: (fn, ms) => this.#inner.setTimeout(fn, ms) }
    this.deferred = { now: () => this.#inner.now(), setTimeout: (fn, ms) => this.#defer(fn, ms) }
  }

  now(): number {
    return this.#inner.now()
  }

  setTimeout(fn: () => void, ms: number): () => void {
    const timer: Timer = { at: this.now() + Math.max(0, ms), fn, cancel: () => undefined }
    this.#timers.add(timer)
    this.#arm(timer)
    return () => {
      this.#timers.delete(timer)
      timer.cancel()
    }
  }

  async advance(span: Span | number | string): Promise<void> {
    const target = this.now() + spanMs(span)
    for (;;) {
      await this.#settle()
      const next = this.#nextTimer()
      if (next > target) break
      this.#inner.advanceTo(next)
      if (this.isObserved()) this.#fireDeferred()
    }
    this.#inner.advanceTo(target)
    this.#fireDeferred()
    await this.#settle()
  }

  /** Sets the time. Timers of controllers, clients and the test keep their remaining time. */
  resetTo(atMs: number): void {
    const offset = atMs - this.now()
    this.#inner = fakeClock(atMs)
    for (const timer of this.#deferredTimers) timer.at += offset
    for (const timer of this.#timers) {
      timer.at += offset
      this.#arm(timer)
    }
  }

  #defer(fn: () => void, ms: number): () => void {
    const timer: Timer = { at: this.now() + Math.max(0, ms), fn, cancel: () => undefined }
    this.#deferredTimers.add(timer)
    return () => this.#deferredTimers.delete(timer)
  }

  #fireDeferred(): void {
    const nowMs = this.now()
    for (const timer of [...this.#deferredTimers]) {
      if (timer.at <= nowMs && this.#deferredTimers.delete(timer)) timer.fn()
    }
  }

  #arm(timer: Timer): void {
    timer.cancel = this.#inner.setTimeout(() => {
      this.#timers.delete(timer)
      timer.fn()
    }, timer.at - this.now())
  }

  #nextTimer(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#timers) if (at < next) next = at
    if (this.isObserved()) for (const { at } of this.#deferredTimers) if (at < next) next = at
    return next
  }
}

interface Timer {
  at: number
  readonly fn: () => void
  cancel: () => void
}

/** Adapts a clock provided by the test. */
export function externalClock(clock: Clock): TestClock & { readonly background: Clock; resetTo(atMs: number): void } {
  return {
    now: () => clock.now(),
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
    background: clock,
    resetTo: () => undefined,
    async advance() {
      throw new TestingError({
        code: 'RealClock',
        message: 'the test server uses a clock from its options: advance that clock',
      })
    },
  }
}
