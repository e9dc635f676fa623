export type { CreateStore, StoreUnderTest, SuiteRunner } from './harness.ts'
export { type StorageSuiteOptions, storageSuite } from './suite.ts'
