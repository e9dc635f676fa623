import { Slices } from '@krmkit/meta'
import type { RegistryInternals } from './internals.ts'
import { isLarge } from './object-weight.ts'

/**
 * Lets other requests in between the stages of a write: each stage of a large object takes its share of a slice, all of them would take
 * several. `undefined` for small objects, whose writes take no turn more than they need.
 */
export type Stages = (() => Promise<void>) | undefined

/** Looks at the object once for all stages: that takes a while itself where the object is large. */
export function stagesOf({ slices }: Pick<RegistryInternals, 'slices'>, object: unknown): Stages {
  return isLarge(object) ? () => new Slices(slices).next() : undefined
}
