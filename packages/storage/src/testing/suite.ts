import { type CreateStore, type SuiteRunner, storeTests } from './harness.ts'
import { historyTests } from './history-tests.ts'
import { lifecycleTests } from './lifecycle-tests.ts'
import { randomHistories } from './random-histories.ts'
import { readTests } from './read-tests.ts'
import { watchTests } from './watch-tests.ts'
import { writeTests } from './write-tests.ts'

export interface StorageSuiteOptions {
  /** `describe` and `it` of the test runner. */
  readonly runner: SuiteRunner
  /** Whether stores can be reopened. */
  readonly persistent: boolean
  /**
   * Whether the store keeps the encoded last state of a deleted key across restarts; otherwise the last state is derived from the previous
   * value. Default true.
   */
  readonly keepsLastState?: boolean
  /** Titles of tests that do not apply to the backend, each with its reason, which is reported. */
  readonly skips?: Readonly<Record<string, string>>
  /** Seeds of the random histories; 1 to 10 by default. Failure messages contain the seed. */
  readonly seeds?: readonly number[]
}

/**
 * Declares the tests that every backend must pass: the contract of `Storage`, and random histories compared with a model.
 *
 * @example
 * import { describe, it } from 'vitest'
 * import { memoryStorage } from '@krmkit/storage'
 * import { storageSuite } from '@krmkit/storage/testing'
 * storageSuite('memory', async (options) => {
 *   const storage = memoryStorage(options)
 *   return { storage, dispose: () => storage.close() }
 * }, { runner: { describe, it }, persistent: false })
 */
export function storageSuite(name: string, createStore: CreateStore, options: StorageSuiteOptions): void {
  const { describe } = options.runner
  const test = storeTests(options.runner, createStore, { skips: options.skips, keepsLastState: options.keepsLastState ?? true })
  describe(`${name} storage`, () => {
    describe('writes', () => writeTests(test))
    describe('reads', () => readTests(test))
    describe('watches', () => watchTests(test))
    describe('history', () => historyTests(test))
    describe('lifecycle', () => lifecycleTests(test, options))
    describe('random histories', () => randomHistories(test, options.seeds ?? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
  })
}
