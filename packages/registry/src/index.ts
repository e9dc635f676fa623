export type { Entry } from '@krmkit/storage'
export type { CollectionSink, Following, FollowOptions } from './cache/follow.ts'
export { largeBodyBytes, type ObjectCache } from './cache/object-cache.ts'
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
export { isLargeEntry, loadInBatches } from './read/batches.ts'
export { validateVersionMatch } from './read/list.ts'
export type { PendingEvent, ResourceEvent, ResourceWatch } from './read/watch.ts'
export { createRegistry, type Registry } from './registry.ts'
export { serverContext } from './server-context.ts'
export { ResourceStore } from './store.ts'
export { decodeRefusal, objectTooLarge } from './versions/refusals.ts'
export { ServedResources } from './versions/served-resources.ts'
export { toVersion } from './versions/to-version.direct.ts'
export { loadVersion, requiredMembersOf } from './versions/version-conversion.ts'
export { dropRepeatedOwners } from './write/admission.ts'
export { checkPreconditions, validateDeleteOptions } from './write/deletion-rules.ts'
export { assignNamespace } from './write/metadata.ts'
export type { OperationAdmission, OperationRequest } from './write/operation.ts'
export type { Rewritten } from './write/rewrite.ts'
export { uidConflict, versionConflict } from './write/uid-conflict.ts'
export { validateDryRun } from './write/write-entry.ts'
