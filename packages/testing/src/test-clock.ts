import { type Clock, type FakeClock, fakeClock } from '@krmkit/meta'
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
   * @throws TestingError `RealClock` when the server has another clock
   */
  advance(span: Span | number): Promise<void>
}

/** Converts a duration to milliseconds. */
export function spanMs(span: Span | number): number {
  if (typeof span === 'number') return span
  const { days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = span
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
}

/** The clock of a test server, which can be reset. */
export class ResettableClock implements TestClock {
  /** The clock of the server, whose timers do not stop an advance. */
  readonly background: Clock
  readonly #settle: () => Promise<void>
  readonly #timers = new Set<Timer>()
  #inner: FakeClock

  constructor(startAtMs: number, settle: () => Promise<void>) {
    this.#inner = fakeClock(startAtMs)
    this.#settle = settle
    this.background = { now: () => this.#inner.now(), setTimeout: (fn, ms) => this.#inner.setTimeout(fn, ms) }
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

  async advance(span: Span | number): Promise<void> {
    const target = this.now() + spanMs(span)
    for (;;) {
      await this.#settle()
      const next = this.#nextTimer()
      if (next > target) break
      this.#inner.advanceTo(next)
    }
    this.#inner.advanceTo(target)
    await this.#settle()
  }

  /** Sets the time. Timers of controllers, clients and the test keep their remaining time. */
  resetTo(atMs: number): void {
    const offset = atMs - this.now()
    this.#inner = fakeClock(atMs)
    for (const timer of this.#timers) {
      timer.at += offset
      this.#arm(timer)
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
    return next
  }
}

interface Timer {
  at: number
  readonly fn: () => void
  cancel: () => void
}

/** Adapts a clock that the test provides. */
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
