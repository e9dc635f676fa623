/**
 * What is going on among controllers: work that waits or runs, and a count that grows with every change seen. Lets
 * `settled` tell quiet from busy without knowing who works.
 */
export class IdleTracker {
  /** Grows with every change that was seen and every piece of work that was done. */
  changes = 0
  #pending = 0
  #idle: (() => void)[] = []

  get isIdle(): boolean {
    return this.#pending === 0
  }

  note(): void {
    this.changes++
  }

  /** Begins a piece of work; the returned function ends it, once. */
  begin(): () => void {
    this.#pending++
    this.changes++
    let open = true
    return () => {
      if (!open) return
      open = false
      this.changes++
      if (--this.#pending > 0) return
      const waiting = this.#idle
      this.#idle = []
      for (const resolve of waiting) resolve()
    }
  }

  /** Resolves when no work waits or runs. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve))
  }
}

/** An event needs fewer turns of the event loop than this from storage to a queue, in one process. */
export const turnsOfEvent = 6

/** Lets everything happen that is due now: other turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
