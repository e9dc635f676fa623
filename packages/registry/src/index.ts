export { admissionAttributes, admissionContext, dropRepeatedOwners, mendAdmitted } from './admission-request.ts'
export { isLargeEntry, loadInBatches } from './batches.ts'
export { type ContinueToken, decodeContinueToken, encodeContinueToken, expiredToken } from './continue-token.ts'
export type {
  Change,
  DeleteOptions,
  DeleteRequest,
  DeleteResult,
  FrozenObject,
  GuardedWrite,
  ListRequest,
  ListResult,
  RegistryEnvironment,
  ShownAs,
  Stored,
  UpdateRequest,
  UpdateResult,
  WriteContext,
  WriteGuard,
} from './interfaces.ts'
export { collectionPrefix, isStorableName, objectKey } from './keys.ts'
export { type ListSource, listEntries, selects } from './list.ts'
export { type CachedObject, deepFreeze, encodeStored, ObjectCache } from './object-cache.ts'
export { generatedName, takeNamespace } from './object-metadata.ts'
export { objectTooLarge } from './object-size.ts'
export { isLarge } from './object-weight.ts'
export { type ApplyIntent, applyToObject, setManagedFields, trackOwnership } from './ownership.ts'
export { createRegistry, type Registry } from './registry.ts'
export { deleteObject, validateDeleteOptions, validateDryRun } from './removal.ts'
export { parseResourceVersion, waitForRevision } from './resource-version.ts'
export { ServedResources } from './served-resources.ts'
export { optimisticLockMessage } from './update-version.ts'
export { createObject, updateObject } from './write.ts'
export type { Writer } from './writer.ts'
