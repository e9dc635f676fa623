export {
  type AggregatedChoice,
  type AggregatedDocument,
  chooseAggregated,
  createDiscovery,
  type Discovery,
  type DiscoveryOptions,
  type DiscoveryRequest,
  type DiscoveryResult as DiscoveryAnswer,
  type NotServed as NothingThere,
  type PlainDocument,
} from './discovery.ts'
export { storageVersionHash } from './storage-version-hash.ts'
export { gitVersion, type VersionOptions, versionDocument } from './version.ts'
