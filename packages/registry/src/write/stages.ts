import { isLargeValue, Pace, runInLaterTurns, type Work } from '@krmkit/meta/work'
import { copyJson, copyJsonSteps } from '@krmkit/schema/json'
import type { RegistryInternals } from '../internals.ts'

/**
 * Yields to other requests between the stages of a write, and within the long ones: all stages of a large object together take
 * several slices. `undefined` for small objects, whose writes do not yield.
 */
export type Stages = WriteStages | undefined

export interface WriteStages {
  /** Ends the slice: the next stage runs in a later turn of the event loop. */
  next(): Promise<void>
  /** Runs a stage that takes several slices, beginning with a new one. */
  run<T>(work: Work<T>): Promise<T>
}

/** Measures the object once for all stages, because measuring a large object takes time itself. */
export function stagesOf({ turns }: Pick<RegistryInternals, 'turns'>, object: unknown): Stages {
  if (!isLargeValue(object)) return undefined
  return {
    next: () => new Pace(turns).next(),
    run: (work) => runInLaterTurns(work, turns),
  }
}

/** The stages of what admission or a conversion has made of an object: it may be large where the object was small. */
export function stagesAfter(store: Pick<RegistryInternals, 'turns'>, stages: Stages, converted: unknown): Stages {
  return stages ?? stagesOf(store, converted)
}

/** A mutable copy of an object that others read or change. */
export function mutableCopy<T extends object>(object: T, stages: Stages): T | Promise<T> {
  return stages === undefined ? copyJson(object) : stages.run(copyJsonSteps(object))
}
