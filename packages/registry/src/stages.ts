import { Slices } from '@krmkit/meta'
import { isLarge } from './object-weight.ts'
import type { Writer } from './writer.ts'

/**
 * Lets other requests in between the stages of a write: each stage of a large object takes its share of a slice, all of them would take
 * several.
 *
 * @returns what to wait for before the next stage; `undefined` for small objects, whose writes take no turn more than they need.
 */
export function nextStage({ slices }: Pick<Writer, 'slices'>, object: unknown): Promise<void> | undefined {
  return isLarge(object) ? new Slices(slices).next() : undefined
}
