export {
  type AggregatedChoice,
  type AggregatedDocument,
  chooseAggregated,
  createDiscovery,
  type Discovery,
  type DiscoveryAnswer,
  type DiscoveryOptions,
  type DiscoveryRequest,
  type NothingThere,
  type PlainDocument,
} from './discovery.ts'
export { storageVersionHash } from './storage-version-hash.ts'
export { gitVersion, type VersionOptions, versionDocument } from './version.ts'
