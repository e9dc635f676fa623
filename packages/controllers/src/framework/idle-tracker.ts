import { onNextTurn } from '@krmkit/base/work'
/** Counts pending work and observed changes of controllers, so that `settled` can tell when they are idle. */
export class IdleTracker {
  /** Increases with every observed change and every finished piece of work. */
  changes = 0
  #pending = 0
  #waiting: (() => void)[] = []

  get isIdle(): boolean {
    return this.#pending === 0
  }

  noteChange(): void {
    this.changes++
  }

  /** Starts a piece of work. @returns a function that ends it; further calls have no effect */
  begin(): () => void {
    this.#pending++
    this.changes++
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.changes++
      if (--this.#pending > 0) return
      const waiting = this.#waiting
      this.#waiting = []
      for (const resolve of waiting) resolve()
    }
  }

  /** Resolves when no work is pending. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}

/** Number of event-loop turns within which an in-process event reaches the queues of controllers. */
export const eventTurns = 6

/**
 * Yields to the event loop for `count` turns.
 *
 * @example
 * import { yieldTurns } from '@krmkit/controllers/framework'
 * let delivered = false
 * setImmediate(() => (delivered = true))
 * await yieldTurns(1)
 * delivered // true
 */
export async function yieldTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>(onNextTurn)
}
