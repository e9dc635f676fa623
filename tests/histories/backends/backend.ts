import type { RandomChoices } from '../../../packages/base/src/random-choices.ts'
import type { StorageOperation } from '../../../packages/storage/src/testing/linearizability/operation.ts'

/** A backend whose histories are recorded. */
export interface HistoryBackend {
  /** Histories that are recorded at the same time, since they wait most of the time, or share a fault. */
  readonly together: number
  /** Records the histories of these seeds, with faults. */
  record(seeds: readonly number[]): Promise<StorageOperation[][]>
  /** How often each fault occurred. */
  readonly faults: Readonly<Record<string, number>>
  close(): Promise<void>
}

export class FaultCounts {
  readonly counts: Record<string, number> = {}

  add(fault: string): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}

/** Pauses of a client between two operations, mostly short. */
export function briefly(choices: RandomChoices): Promise<void> {
  return choices.chance(80) ? new Promise((resolve) => setImmediate(resolve)) : pause(choices.below(8))
}
