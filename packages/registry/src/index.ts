export type { Entry } from '@krmkit/storage'
export { dropRepeatedOwners } from './admission-request.ts'
export { isLargeEntry, loadInBatches } from './batches.ts'
export { checkPreconditions, validateDeleteOptions, validateDryRun } from './deletion.ts'
export type { CollectionSink, Following, FollowOptions } from './follow.ts'
export type {
  AdmissionView,
  AppliedConfiguration,
  ApplyRequest,
  CreateRequest,
  DecodedObject,
  DeleteCollectionRequest,
  DeleteRequest,
  DeleteRequestOptions,
  DeleteResult,
  FrozenObject,
  GetRequest,
  GuardedWrite,
  ListRequest,
  ListResult,
  RegistryEnvironment,
  Stored,
  StoredUpdate,
  UpdateRequest,
  UpdateResult,
  WatchRequest,
  WriteContext,
  WriteGuard,
  WriteStep,
} from './interfaces.ts'
export { isStorableName } from './keys.ts'
export { validateVersionMatch } from './list.ts'
export type { ObjectCache } from './object-cache.ts'
export { takeNamespace } from './object-metadata.ts'
export { objectTooLarge } from './object-size.ts'
export { largeBodyBytes } from './object-weight.ts'
export type { OperationAdmission, OperationRequest } from './operation.ts'
export { createRegistry, type Registry } from './registry.ts'
export { requiredMembersOf } from './required-members.ts'
export type { Rewritten } from './rewrite.ts'
export { ServedResources } from './served-resources.ts'
export { serverContext } from './server-context.ts'
export { ResourceStore } from './store.ts'
export { uidConflict, versionConflict } from './uid-conflict.ts'
export { decodeRefusal, loadVersion, toVersion } from './versions.ts'
export type { PendingEvent, ResourceEvent, ResourceWatch } from './watch.ts'
