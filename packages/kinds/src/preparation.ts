import { runAtOnce, type Work } from '@krmkit/base/work'
import type { Preparation } from './interfaces.ts'

/** Work that is done: it has ended, so that it can be delegated to again and again. */
export const done: Work = (function* () {})()
done.next()

/**
 * Prepares an object without interruption.
 *
 * @example
 * import { runPreparation } from '@krmkit/kinds'
 * const object = { metadata: { generation: 0 } }
 * function* preparation() {
 *   yield
 *   object.metadata.generation = 1
 * }
 * runPreparation(preparation())
 * object.metadata.generation // 1
 */
export function runPreparation(preparation: Preparation): void {
  if (preparation !== undefined) runAtOnce(preparation)
}

/** A preparation with its pauses. @see {@link runPreparation} */
export function preparationWork(preparation: Preparation): Work {
  return preparation === undefined ? done : preparation
}
