import { Slices } from '@krmkit/meta/slices'
import type { RegistryInternals } from './internals.ts'
import { isLarge } from './object-weight.ts'

/**
 * Yields to other requests between the stages of a write: all stages of a large object together take several slices. `undefined` for
 * small objects, whose writes do not yield.
 */
export type Stages = (() => Promise<void>) | undefined

/** Measures the object once for all stages, because measuring a large object takes time itself. */
export function stagesOf({ slices }: Pick<RegistryInternals, 'slices'>, object: unknown): Stages {
  return isLarge(object) ? () => new Slices(slices).next() : undefined
}
