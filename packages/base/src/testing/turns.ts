/** Tests of work that pauses. */

/**
 * Runs work and counts the turns of the event loop meanwhile, which is how often other work could run.
 *
 * @example
 * import { turnsDuring } from '@krmkit/base/testing'
 * const { result, turns } = await turnsDuring(async () => 'done')
 * result // 'done'
 * turns // 0
 */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0
  const count = (): void => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  try {
    const result = await work()
    return { result, turns }
  } finally {
    clearImmediate(counting)
  }
}
