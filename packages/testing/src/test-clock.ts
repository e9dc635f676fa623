import { type Clock, type FakeClock, fakeClock } from '@krmkit/meta'
import { TestingError } from './testing-error.ts'

/** A span of time; the parts add up. */
export interface Span {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

/** The time of a test server. A `Clock`, so that what is tested can live in the same time. */
export interface TestClock extends Clock {
  /**
   * Moves time on, stopping at every moment for which a controller, a client or the test has set an alarm, and lets
   * everything settle there. Alarms of the server itself (ends of watches, timeouts) go off on the way.
   *
   * @throws TestingError `RealClock` when the server runs by another clock.
   */
  advance(span: Span | number): Promise<void>
}

/** Milliseconds of a span. */
export function spanMs(span: Span | number): number {
  if (typeof span === 'number') return span
  const { days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = span
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
}

/** The clock of one test server, which can be set back as a whole. */
export class ResettableClock implements TestClock {
  /** For the server: its alarms do not stop an advance. */
  readonly background: Clock
  readonly #settle: () => Promise<void>
  readonly #alarms = new Set<Alarm>()
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
    const alarm: Alarm = { at: this.now() + Math.max(0, ms), fn, cancel: () => undefined }
    this.#alarms.add(alarm)
    this.#arm(alarm)
    return () => {
      this.#alarms.delete(alarm)
      alarm.cancel()
    }
  }

  async advance(span: Span | number): Promise<void> {
    const target = this.now() + spanMs(span)
    for (;;) {
      await this.#settle()
      const next = this.#nextAlarm()
      if (next > target) break
      this.#inner.advanceTo(next)
    }
    this.#inner.advanceTo(target)
    await this.#settle()
  }

  /** Sets the time; alarms of controllers, clients and the test go off as long from now as they would have. */
  restart(atMs: number): void {
    const moved = atMs - this.now()
    this.#inner = fakeClock(atMs)
    for (const alarm of this.#alarms) {
      alarm.at += moved
      this.#arm(alarm)
    }
  }

  #arm(alarm: Alarm): void {
    alarm.cancel = this.#inner.setTimeout(() => {
      this.#alarms.delete(alarm)
      alarm.fn()
    }, alarm.at - this.now())
  }

  #nextAlarm(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#alarms) if (at < next) next = at
    return next
  }
}

interface Alarm {
  at: number
  readonly fn: () => void
  cancel: () => void
}

/** Somebody else's clock. */
export function externalClock(clock: Clock): TestClock & { readonly background: Clock; restart(atMs: number): void } {
  return {
    now: () => clock.now(),
    setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
    background: clock,
    restart: () => undefined,
    async advance() {
      throw new TestingError({
        code: 'RealClock',
        message: 'this test server runs by a clock that was given to it: move that one',
      })
    },
  }
}
