export type { CreateStore, StoreUnderTest, SuiteRunner } from './harness.ts'
export { checkLinearizable, type Linearizability } from './linearizability/check-linearizable.ts'
export {
  type ClientList,
  type ClientWrite,
  type ClientWriteResult,
  clientOf,
  type HistoryClient,
} from './linearizability/history-client.ts'
export {
  historyPrefix,
  type OperationInput,
  type OperationOutput,
  type SeenValue,
  type StorageOperation,
} from './linearizability/operation.ts'
export { type HistoryOptions, recordHistory } from './linearizability/record-history.ts'
export { type StorageSuiteOptions, storageSuite } from './suite.ts'
