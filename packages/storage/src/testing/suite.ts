import { type CreateStore, type SuiteRunner, storeTests } from './harness.ts'
import { historyTests } from './history-tests.ts'
import { lifeTests } from './life-tests.ts'
import { randomHistories } from './random-histories.ts'
import { readTests } from './read-tests.ts'
import { watchTests } from './watch-tests.ts'
import { writeTests } from './write-tests.ts'

export interface StorageSuiteOptions {
  /** `describe` and `it` of the test runner in use. */
  readonly runner: SuiteRunner
  /** Whether the stores that `createStore` makes can be reopened. */
  readonly survives: boolean
  /** Of the random histories. Default 1 to 10. A failure names its seed. */
  readonly seeds?: readonly number[]
}

/**
 * Declares the tests that every backend passes: the contract of `Storage`, and random histories against a model.
 *
 * ```ts
 * import { describe, it } from 'vitest'
 * storageSuite('mine', async (options) => {
 *   const storage = myStorage(options)
 *   return { storage, dispose: () => storage.close() }
 * }, { runner: { describe, it }, survives: false })
 * ```
 */
export function storageSuite(name: string, createStore: CreateStore, options: StorageSuiteOptions): void {
  const { describe } = options.runner
  const test = storeTests(options.runner, createStore)
  describe(`${name} storage`, () => {
    describe('writes', () => writeTests(test))
    describe('reads', () => readTests(test))
    describe('watches', () => watchTests(test))
    describe('history', () => historyTests(test))
    describe('life', () => lifeTests(test, options))
    describe('random histories', () => randomHistories(test, options.seeds ?? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
  })
}
