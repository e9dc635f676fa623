import { IdleTracker, yieldTurns } from '@krmkit/controllers/framework'
import { systemClock } from '@krmkit/meta'

/** Number of event-loop turns within which a watch event reaches its readers and their requests arrive. */
const eventTurns = 8
/**
 * Time without changes after which requests in flight count as stuck, because they wait for the clock or an external event.
 */
const stuckMs = 1000
const stuckTurns = 50

/** A request in flight. */
export interface TrackedRequest {
  /** Suspends tracking while the request waits for the clock. */
  suspend<T>(wait: Promise<T>): Promise<T>
  end(): void
}

/** Tracks requests in flight and waits until the server is idle. */
export class IdleWait {
  readonly #tracker = new IdleTracker()

  /** Starts tracking a request. */
  begin(): TrackedRequest {
    let end = this.#tracker.begin()
    return {
      suspend: async (wait) => {
        end()
        try {
          return await wait
        } finally {
          end = this.#tracker.begin()
        }
      },
      end: () => end(),
    }
  }

  /** Resolves when `round` has run, no request is in flight, and nothing changes for some event-loop turns. */
  async settled(round: () => Promise<void>, revision: () => number): Promise<void> {
    for (;;) {
      const isStuck = !(await this.#idle())
      await round()
      const { changes } = this.#tracker
      const before = revision()
      await yieldTurns(eventTurns)
      if (changes === this.#tracker.changes && before === revision() && (isStuck || this.#tracker.isIdle)) return
    }
  }

  /** Resolves to false when requests in flight are stuck. */
  #idle(): Promise<boolean> {
    if (this.#tracker.isIdle) return Promise.resolve(true)
    return new Promise((resolve) => {
      let { changes } = this.#tracker
      const check = async () => {
        // On a busy machine timers are late, so due work is run first.
        await yieldTurns(stuckTurns)
        if (changes === this.#tracker.changes) resolve(false)
        else {
          changes = this.#tracker.changes
          cancel = systemClock.setTimeout(check, stuckMs)
        }
      }
      let cancel = systemClock.setTimeout(check, stuckMs)
      void this.#tracker.idle().then(() => {
        cancel()
        resolve(true)
      })
    })
  }
}
